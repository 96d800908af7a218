#!/usr/bin/env python3
"""Checks packaging/vcpkg without vcpkg: the fields of vcpkg.json, and a run of portfile.cmake in
which vcpkg's functions only print what they are given."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORT = ROOT / "packaging/vcpkg/ringkernel"
# As vcpkg documents them: the fields of a manifest, of a dependency and of a feature.
MANIFEST = {"name", "version", "description", "homepage", "license", "supports", "dependencies",
            "features"}
DEPENDENCY = {"name", "host", "features", "default-features", "platform", "version>="}
FEATURE = {"description", "supports", "dependencies"}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Of the ports vcpkg-cmake and vcpkg-cmake-config, and of vcpkg itself.
FUNCTIONS = {"vcpkg-cmake": ["vcpkg_cmake_configure", "vcpkg_cmake_install"],
             "vcpkg-cmake-config": ["vcpkg_cmake_config_fixup"],
             "": ["vcpkg_check_features", "vcpkg_fixup_pkgconfig", "vcpkg_copy_tools",
                  "vcpkg_install_copyright"]}


def check_dependencies(holder):
    names = []
    for dependency in holder.get("dependencies", []):
        if isinstance(dependency, dict):
            assert set(dependency) <= DEPENDENCY, f"fields of {dependency}"
            dependency = dependency["name"]
        assert NAME.fullmatch(dependency), f"name {dependency}"
        names.append(dependency)
    return names


def check_manifest(manifest):
    """The names of the ports that it depends on."""
    assert set(manifest) <= MANIFEST, f"fields {set(manifest) - MANIFEST}"
    assert manifest["name"] == PORT.name and NAME.fullmatch(PORT.name)
    assert re.fullmatch(r"\d+(\.\d+)*", manifest["version"])
    for name, feature in manifest["features"].items():
        assert NAME.fullmatch(name) and feature["description"], f"feature {name}"
        assert set(feature) <= FEATURE, f"fields of {name}"
        check_dependencies(feature)
    return check_dependencies(manifest)


def run_portfile(manifest, dependencies, packages):
    """What the functions were given."""
    script = packages / "script.cmake"
    values = {"PORT": PORT.name, "FEATURES": ";".join(manifest["features"]),
              "CURRENT_PACKAGES_DIR": packages, "CURRENT_INSTALLED_DIR": "/installed",
              "CURRENT_HOST_INSTALLED_DIR": "/host"}
    lines = ["cmake_minimum_required(VERSION 3.25)"]
    lines += [f'set({name} "{value}")' for name, value in values.items()]
    for port, functions in FUNCTIONS.items():
        if not port or port in dependencies:
            lines += [f'function({name})\n  message(STATUS "{name};${{ARGN}}")\nendfunction()'
                      for name in functions]
    script.write_text("\n".join(lines + [f"include({PORT}/portfile.cmake)\n"]))
    ran = subprocess.run(["cmake", "-P", script], check=True, text=True, stdout=subprocess.PIPE)
    return [line.removeprefix("-- ").split(";") for line in ran.stdout.splitlines()]


def check_calls(calls, features):
    options = re.findall(r"(?:option|set)\((RINGKERNEL_\w+)", (ROOT / "CMakeLists.txt").read_text())
    for name, *arguments in calls:
        for argument in arguments:
            if option := re.match(r"(?:-D)?(RINGKERNEL_\w+)", argument):
                assert option[1] in options, f"there is no option {argument}"
            if argument.startswith(str(ROOT)):
                assert pathlib.Path(argument).exists(), f"{name}: {argument} does not exist"
    called = {call[0]: call[1:] for call in calls}
    assert set(features) <= set(called["vcpkg_check_features"]), "a feature decides nothing"
    assert called["vcpkg_copy_tools"][1:-1] == sorted(
        folder.name for folder in (ROOT / "src/tools").iterdir() if folder.is_dir()), "the tools"
    assert called["vcpkg_install_copyright"], "no licence"


def main():
    manifest = json.loads((PORT / "vcpkg.json").read_text())
    dependencies = check_manifest(manifest)
    with tempfile.TemporaryDirectory() as folder:
        packages = pathlib.Path(folder)
        check_calls(run_portfile(manifest, dependencies, packages), manifest["features"])
        assert (packages / "share" / PORT.name / "usage").is_file(), "no usage"


if __name__ == "__main__":
    sys.exit(main())
