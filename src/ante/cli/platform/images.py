"""`ante images`: list the images to mirror for air-gapped clusters."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import UseAppendAction, arg


@dataclass(frozen=True)
class Images:
    """List all images that a training on Kubernetes needs, given the values of the chart.

    ANTE_REGISTRY names the registry of Ante's own image.

    Try:
      ante images
      ante images -f values.yaml --set llmServer.enabled=true
      ante images --all --json
      ante images --quiet | xargs -n 1 docker pull
    """

    values: Annotated[UseAppendAction[tuple[Path, ...]], arg(aliases=("-f",), metavar="FILE")] = ()
    """Values files, as for helm; later files take precedence. Repeatable."""
    set: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="KEY=VALUE")] = ()
    """Single values, such as image.tag=1.2. Repeatable."""
    all: bool = False
    """Include images of services that these values disable."""
    quiet: bool = False
    """Print only names, one per line."""
    json: bool = False
    """Print a list of objects: image, runs, used."""

    def run(self) -> int:
        """Print the images. Raises BadSettings."""
        from ante.deploy.chart import images, read_chart_values
        from ante.deploy.settings import released

        values = read_chart_values(self.values, self.set, released(os.environ.get("ANTE_REGISTRY")))
        found = [each for each in images(values) if each.used or self.all]
        if self.json:
            print(json.dumps([asdict(each) for each in found], indent=1))
        elif self.quiet:
            print("\n".join(dict.fromkeys(each.image for each in found)))
        else:
            width = max(len(each.image) for each in found)
            for each in found:
                print(f"{each.image:{width}}  {each.runs}{'' if each.used else ' (disabled)'}")
        return 0
