"""`ante images`: what a site without a way out has to bring in."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import UseAppendAction, arg


@dataclass(frozen=True)
class Images:
    """List every image that a training on Kubernetes needs, by the values of the chart.

    Try:
      ante images
      ante images -f values.yaml --set llmServer.enabled=true
      ante images --all --json
      ante images --quiet | xargs -n 1 docker pull
    """

    values: Annotated[UseAppendAction[tuple[Path, ...]], arg(aliases=("-f",), metavar="FILE")] = ()
    """Values files, as for helm; later ones win. May be given several times."""
    set: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="KEY=VALUE")] = ()
    """Single values, such as image.tag=1.2. May be given several times."""
    all: bool = False
    """Those of services that these values switch off too."""
    quiet: bool = False
    """Names only, one a line, for scripts."""
    json: bool = False
    """Print a list of objects: image, runs, used."""

    def run(self) -> int:
        """Print them. Raises BadSettings."""
        from ante.deploy.images import images, read_chart_values

        found = [each for each in images(read_chart_values(self.values, self.set)) if each.used or self.all]
        if self.json:
            print(json.dumps([asdict(each) for each in found], indent=1))
        elif self.quiet:
            print("\n".join(dict.fromkeys(each.image for each in found)))
        else:
            width = max(len(each.image) for each in found)
            for each in found:
                print(f"{each.image:{width}}  {each.runs}{'' if each.used else ' (off)'}")
        return 0
