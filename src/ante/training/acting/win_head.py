"""The probability of winning as a function of a shortlist policy's features, for search.

The value of a policy is a sum of shaped rewards. A small network on the same features, fitted to the outcomes of whole
games (`ante calibrate`), estimates the probability of winning instead, which search compares.
"""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ante.arrays import read_arrays
from ante.errors import BalatroError
from ante.files import NoFile, Unreadable, whole

WIN_HEAD = "win.npz"  # beside the weights of a run's checkpoint or of a release


class BadWinHead(BalatroError, ValueError):
    """A file of weights that does not belong to the policy beside it."""


@dataclass(frozen=True)
class WinHead:
    """A network with one hidden layer (SiLU) and a logistic output.

    hidden, hidden_bias  (size, width) and (width,) float32
    output, output_bias  (width,) and () float32
    weights_sha256       of the policy for which it was fitted
    """

    hidden: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    output: NDArray[np.float32]
    output_bias: NDArray[np.float32]
    weights_sha256: str

    def __call__(self, trunk: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of winning, (n,), from the policy's features (n, size)."""
        with np.errstate(over="ignore"):  # exp of a large number is infinite: the probability is 0
            plain = trunk @ self.hidden + self.hidden_bias
            active = plain / (1.0 + np.exp(-plain))
            logits = (active @ self.output + self.output_bias).astype(np.float64)
            return 1.0 / (1.0 + np.exp(-logits))

    def write(self, folder: Path) -> Path:
        """Write the file beside the weights and return it."""
        file = folder / WIN_HEAD
        with whole(file) as aside, aside.open("wb") as stream:
            np.savez(
                stream,
                hidden=self.hidden.astype(np.float16),
                hidden_bias=self.hidden_bias,
                output=self.output,
                output_bias=self.output_bias,
                weights_sha256=np.array(self.weights_sha256),
            )
        return file


def read_win_head(folder: Path, weights_sha256: str) -> WinHead | None:
    """Return the head beside a policy's weights, None if there is none. Raises BadWinHead."""
    file = folder / WIN_HEAD
    try:
        found = read_arrays(file, text=("weights_sha256",))
        *parameters, belongs_to = (found[each.name] for each in fields(WinHead))
        hidden, hidden_bias, output, output_bias = (each.astype(np.float32) for each in parameters)
        head = WinHead(hidden, hidden_bias, output, output_bias, str(belongs_to))
        check_head(head)
    except NoFile:
        return None
    except (ValueError, KeyError) as error:
        cause = error if isinstance(error, Unreadable) else f"{file} cannot be read: {error}"
        raise BadWinHead(f"{cause}; fit it again with ante calibrate, or delete it") from None
    if head.weights_sha256 != weights_sha256:
        raise BadWinHead(f"{file} was fitted to other weights: fit it again with ante calibrate, or delete it")
    return head


def check_head(head: WinHead) -> None:
    """Raise ValueError for shapes that do not fit together, and for numbers that are not finite."""
    size, width = head.hidden.shape
    expected = (size, width), (width,), (width,), ()
    for each, shape in zip((head.hidden, head.hidden_bias, head.output, head.output_bias), expected, strict=True):
        if each.shape != shape or not np.isfinite(each).all():
            raise ValueError(f"it has an array {each.shape} that does not fit or is not finite")
