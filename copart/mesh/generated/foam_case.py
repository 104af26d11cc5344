"""What a solver needs beside the meshes of the tutorial's OpenFOAM case: air that flows over a heated metal plate.

For ``chtMultiRegionFoam`` of openfoam.com (tried with v1912, as Debian has it): dictionaries, properties, initial
fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

Tree = Mapping[str, "str | Tree"]

SCHEMES: Tree = {
    "ddtSchemes": {"default": "Euler"}, "gradSchemes": {"default": "Gauss linear"},
    "divSchemes": {"default": "Gauss upwind", "div(((rho*nuEff)*dev2(T(grad(U)))))": "Gauss linear"},
    "laplacianSchemes": {"default": "Gauss linear corrected"}, "interpolationSchemes": {"default": "linear"},
    "snGradSchemes": {"default": "corrected"}}
SYMMETRIC: Tree = {"solver": "PCG", "preconditioner": "DIC", "tolerance": "1e-9", "relTol": "0"}
GENERAL: Tree = {"solver": "PBiCGStab", "preconditioner": "DILU", "tolerance": "1e-9", "relTol": "0"}
WET = "compressible::turbulentTemperatureCoupledBaffleMixed"

#: Files by their paths in the case.
FILES: dict[str, Tree] = {
    "system/controlDict": {
        "application": "chtMultiRegionFoam", "startFrom": "startTime", "startTime": "0", "stopAt": "endTime",
        "endTime": "0.05", "deltaT": "0.005", "writeControl": "timeStep", "writeInterval": "10", "writeFormat": "ascii",
        "writePrecision": "10", "adjustTimeStep": "no", "maxCo": "1", "maxDi": "10", "runTimeModifiable": "no"},
    "system/fvSchemes": {name: {} for name in SCHEMES},
    "system/fvSolution": {"PIMPLE": {"nOuterCorrectors": "1"}},
    "system/air/fvSchemes": SCHEMES,
    "system/air/fvSolution": {
        "solvers": {'"(rho|p_rgh)(Final)?"': SYMMETRIC, '"(U|h)(Final)?"': GENERAL},
        "PIMPLE": {"momentumPredictor": "yes", "nCorrectors": "2", "nNonOrthogonalCorrectors": "0"}},
    "system/metal/fvSchemes": SCHEMES,
    "system/metal/fvSolution": {"solvers": {'"h(Final)?"': SYMMETRIC}, "PIMPLE": {"nNonOrthogonalCorrectors": "0"}},
    "constant/regionProperties": {"regions": "( fluid (air) solid (metal) )"},
    "constant/g": {"dimensions": "[0 1 -2 0 0 0 0]", "value": "(0 -9.81 0)"},
    "constant/air/turbulenceProperties": {"simulationType": "laminar"},
    "constant/air/thermophysicalProperties": {
        "thermoType": {"type": "heRhoThermo", "mixture": "pureMixture", "transport": "const", "thermo": "hConst",
                       "equationOfState": "perfectGas", "specie": "specie", "energy": "sensibleEnthalpy"},
        "mixture": {"specie": {"molWeight": "28.9"}, "thermodynamics": {"Cp": "1005", "Hf": "0"},
                    "transport": {"mu": "1.8e-5", "Pr": "0.7"}}},
    "constant/metal/thermophysicalProperties": {
        "thermoType": {"type": "heSolidThermo", "mixture": "pureMixture", "transport": "constIso", "thermo": "hConst",
                       "equationOfState": "rhoConst", "specie": "specie", "energy": "sensibleEnthalpy"},
        "mixture": {"specie": {"molWeight": "27"}, "thermodynamics": {"Cp": "900", "Hf": "0"},
                    "transport": {"kappa": "200"}, "equationOfState": {"rho": "2700"}}}}

#: Fields by region: class, dimensions, value inside, and conditions on patches.
FIELDS: dict[str, tuple[str, str, str, Tree]] = {
    "air/T": ("volScalarField", "[0 0 0 1 0 0 0]", "300", {
        "inlet": {"type": "fixedValue", "value": "uniform 300"},
        "outlet": {"type": "inletOutlet", "inletValue": "uniform 300", "value": "uniform 300"},
        "air_to_metal": {"type": WET, "Tnbr": "T", "kappaMethod": "fluidThermo", "value": "uniform 300"},
        "walls": {"type": "zeroGradient"}}),
    "air/U": ("volVectorField", "[0 1 -1 0 0 0 0]", "(1 0 0)", {
        "inlet": {"type": "fixedValue", "value": "uniform (1 0 0)"},
        "outlet": {"type": "pressureInletOutletVelocity", "value": "uniform (1 0 0)"},
        "air_to_metal": {"type": "noSlip"}, "walls": {"type": "slip"}}),
    "air/p": ("volScalarField", "[1 -1 -2 0 0 0 0]", "1e5", {
        '".*"': {"type": "calculated", "value": "uniform 1e5"}}),
    "air/p_rgh": ("volScalarField", "[1 -1 -2 0 0 0 0]", "1e5", {
        "outlet": {"type": "fixedValue", "value": "uniform 1e5"},
        '"(inlet|air_to_metal|walls)"': {"type": "fixedFluxPressure", "value": "uniform 1e5"}}),
    "metal/T": ("volScalarField", "[0 0 0 1 0 0 0]", "300", {
        "metal_to_air": {"type": WET, "Tnbr": "T", "kappaMethod": "solidThermo", "value": "uniform 300"},
        "inlet": {"type": "fixedValue", "value": "uniform 400"}, '"(outlet|walls)"': {"type": "zeroGradient"}}),
    "metal/p": ("volScalarField", "[1 -1 -2 0 0 0 0]", "1e5", {
        '".*"': {"type": "calculated", "value": "uniform 1e5"}})}


def write_settings(case: Path) -> None:
    """Write all of it into a case."""
    for place, tree in FILES.items():
        kind = "uniformDimensionedVectorField" if place.endswith("/g") else "dictionary"
        _write(case / place, kind, tree)
    for place, (kind, dimensions, inside, patches) in FIELDS.items():
        _write(case / "0" / place, kind, {"dimensions": dimensions, "internalField": f"uniform {inside}",
                                          "boundaryField": patches})


def _write(path: Path, kind: str, tree: Tree) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"version": "2.0", "format": "ascii", "class": kind, "object": path.name}
    path.write_text("\n".join(["FoamFile", "{", *_lines(head, "    "), "}", "", *_lines(tree)]) + "\n")


def _lines(tree: Tree, indent: str = "") -> list[str]:
    """Entries of a dictionary."""
    out: list[str] = []
    for key, value in tree.items():
        if isinstance(value, str):
            out.append(f"{indent}{key:<15} {value};")
        else:
            out += [f"{indent}{key}", f"{indent}{{", *_lines(value, indent + "    "), f"{indent}}}"]
    return out
