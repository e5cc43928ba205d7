"""The recipe of the README, as it stands there."""

import os
import pathlib
import re
import subprocess
import sys

README = pathlib.Path(__file__).parents[2] / "README.md"


def test_the_recipe_for_pytest_works_as_it_stands(tmp_path):
    (recipe,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "test_recipe.py").write_text(recipe)
    (tmp_path / "docsyncd-sandbox").symlink_to(os.environ["SANDBOX"])
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_recipe.py"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and "1 passed" in ended.stdout, ended.stdout + ended.stderr


def test_every_example_of_the_description_is_what_its_schema_says(start_sandbox):
    import jsonschema_rs

    description = start_sandbox().get("/openapi.json").json()
    judged = 0
    for operations in description["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                for content in response.get("content", {}).values():
                    schema = {"components": description["components"], **content["schema"]}
                    jsonschema_rs.validator_for(schema).validate(content["example"])
                    judged += 1
    assert judged > 100
