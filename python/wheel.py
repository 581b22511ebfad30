# SPDX-License-Identifier: Apache-2.0
"""A wheel is a zip with a list of what is in it: this makes them.

As the build backend of pyproject.toml it needs nothing but Python and protoc, so that
`pip install ./python` works without a network once its two dependencies are there. The
contract's descriptor set is made here, of ../proto, and is in no repository."""
import base64
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROTO = HERE.parent / "proto"
REQUIRES = ("protobuf>=3.20.2,<8", "grpcio>=1.76")
SCRIPTS = {"frostline-command": "frostline.command:main",
           "frostline-hub": "frostline.hub:main",
           "frostline-katib": "frostline.kubeflow:main",
           "frostline-mcp": "frostline.mcp:main",
           "frostline-optuna": "frostline.history:main",
           "frostline-records": "frostline.records:main"}
EPOCH = (2020, 1, 1, 0, 0, 0)  # equal sources, equal bytes


def version() -> str:
    text = (HERE / "frostline" / "version.py").read_text(encoding="utf-8")
    return re.search(r'VERSION = "([^"]+)"', text).group(1)


def descriptor_set() -> bytes:
    """The contract without its comments, and what Kubeflow asks; one that lies here
    already is taken where there is no protoc (an unpacked source distribution)."""
    ready = HERE / "frostline" / "frostline.v1.binpb"
    if not PROTO.is_dir():
        return ready.read_bytes()
    files = sorted(file for folder in ("frostline/v1", "grpc/kubeflow")
                   for file in (PROTO / folder).glob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", "-I", PROTO, "--include_imports",
                        f"--descriptor_set_out={out.name}", *files], check=True)
        return pathlib.Path(out.name).read_bytes()


def metadata(name: str, summary: str, requires=(), extras=None) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version()}",
             f"Summary: {summary}", "License: Apache-2.0", "Requires-Python: >=3.10",
             *(f"Requires-Dist: {one}" for one in requires)]
    for extra, needed in (extras or {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {one}; extra == "{extra}"' for one in needed]
    return "\n".join(lines) + "\n"


def write_wheel(folder, name, tag, files, about, scripts, executable=()) -> str:
    """files: {path in the wheel: bytes}. Returns the wheel's file name."""
    plain = name.replace("-", "_")
    info = f"{plain}-{version()}.dist-info"
    points = "".join(f"{n} = {f}\n" for n, f in scripts.items())
    pure = "true" if tag.endswith("any") else "false"
    files = dict(files)
    files[f"{info}/METADATA"] = about.encode()
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{points}".encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: frostline\n"
                              f"Root-Is-Purelib: {pure}\nTag: {tag}\n").encode()
    record = io.StringIO()
    file = f"{plain}-{version()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, file), "w", zipfile.ZIP_DEFLATED,
                         compresslevel=9) as wheel:
        for path, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
            record.write(f"{path},sha256={digest.rstrip(b'=').decode()},{len(content)}\n")
            _add(wheel, path, content, 0o755 if path in executable else 0o644)
        record.write(f"{info}/RECORD,,\n")
        _add(wheel, f"{info}/RECORD", record.getvalue().encode(), 0o644)
    return file


def _add(wheel, path, content, mode) -> None:
    entry = zipfile.ZipInfo(path, EPOCH)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content)


def sources() -> dict:
    files = {f"frostline/{path.name}": path.read_bytes()
             for path in sorted((HERE / "frostline").iterdir())
             if path.suffix == ".py" or path.name == "py.typed"}
    hook = "hydra_plugins/frostline_sweeper.py"  # Hydra finds it there
    files[hook] = (HERE / hook).read_bytes()
    files["frostline/frostline.v1.binpb"] = descriptor_set()
    return files


def _about() -> str:
    return metadata("frostline", "Which layers of a model to train, and how fast.",
                    REQUIRES, {"server": [f"frostline-server=={version()}"],
                               "mcp": ["mcp>=2.3,<3"]})


def build_freezebench(folder) -> str:
    """The recorded tables, as a package without anything of ours beside them."""
    home = HERE / "freezebench"
    bench = HERE.parent / "tests" / "bench"
    tables = [*(bench / "tables/data").glob("*.table"), *(bench / "search/data").glob("*.table"),
              *(bench / "search/data").glob("*-depths.csv")]
    files = {f"freezebench/{path.name}": path.read_bytes()
             for path in (*sorted(home.glob("*.py")), home / "README.md")}
    files.update({f"freezebench/data/{path.name}": path.read_bytes()
                  for path in sorted(tables, key=lambda one: one.name)})
    about = metadata("freezebench", "Real fine-tunings by layer, as tables.",
                     ("pandas>=2", "optuna>=4"),
                     {"frostline": [f"frostline[server]=={version()}"]})
    return write_wheel(folder, "freezebench", "py3-none-any", files, about,
                       {"freezebench": "freezebench.leaderboard:main"})


# --- what pip calls (PEP 517) ---

def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, "frostline", "py3-none-any", sources(),
                       _about(), SCRIPTS)


def build_sdist(sdist_directory, config_settings=None):
    root = f"frostline-{version()}"
    files = {name: (HERE / name).read_bytes()
             for name in ("pyproject.toml", "wheel.py", "README.md")}
    files.update(sources())
    files["PKG-INFO"] = _about().encode()
    with tarfile.open(pathlib.Path(sdist_directory, f"{root}.tar.gz"), "w:gz") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{root}/{path}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return f"{root}.tar.gz"


if __name__ == "__main__":  # wheel.py FOLDER
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for build in (build_wheel, build_freezebench):
        print(pathlib.Path(sys.argv[1], build(sys.argv[1])))
