"""URDF files with macros: expanded by the library xacro, and refused where they ask for more than a file may."""

import pytest

from flexph.exchange import read_urdf
from flexph.exchange.robots.xacro_worker import RefusedError, refuse_programs

HEAD = '<robot name="r" xmlns:xacro="http://ros.org/xacro">'
LINK = """<xacro:macro name="bar" params="name mass length:=0.4"><link name="$(arg prefix)${name}"><inertial>
<origin xyz="${length / 2} 0 0"/><mass value="${mass}"/>
<inertia ixx="1e-4" iyy="${mass * length**2 / 12}" izz="${mass * length**2 / 12}" ixy="0" ixz="0" iyz="0"/>
</inertial></link></xacro:macro>"""
JOINT = """<joint name="turn" type="continuous"><parent link="base"/><child link="$(arg prefix)arm"/>
<origin rpy="0 ${pi / 2} 0"/><axis xyz="0 0 1"/></joint>"""


def written(path, inside):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEAD}{inside}</robot>")
    return path


def arm(include="", prefix='<xacro:arg name="prefix" default="the_"/>'):
    return f'{prefix}{include}{LINK}<link name="base"/><xacro:bar name="arm" mass="${{2 * 0.75}}"/>{JOINT}'


def test_macros_properties_and_arguments_are_expanded(tmp_path):
    pytest.importorskip("xacro")
    path = written(tmp_path / "r.urdf.xacro", arm())
    body = read_urdf(path).bodies["the_arm"]
    assert body.mass == 1.5 and body.centre[0] == pytest.approx(0.2)
    assert body.moments[1, 1] == pytest.approx(1.5 * 0.16 / 12.0)
    assert set(read_urdf(path, arguments={"prefix": "left_"}).bodies) == {"left_arm"}


def test_included_files_lie_in_the_folder_or_the_package(tmp_path):
    pytest.importorskip("xacro")
    folder = tmp_path / "my_robot"
    written(folder / "macros" / "m.xacro", LINK)
    include = '<xacro:include filename="$(find my_robot)/macros/m.xacro"/>'
    text = arm(include).replace(LINK, "")
    assert set(read_urdf(written(folder / "urdf" / "r.xacro", text)).bodies) == {"the_arm"}
    written(folder / "urdf" / "own.xacro", LINK)
    text = text.replace("$(find my_robot)/macros/m.xacro", "own.xacro")
    assert set(read_urdf(written(folder / "urdf" / "r.xacro", text)).bodies) == {"the_arm"}


REFUSED = {
    "must name a file in the folder": arm('<xacro:include filename="../other.xacro"/>'),
    "in the folder of the robot, got '/etc/hostname'": arm('<xacro:include filename="/etc/hostname"/>'),
    "no folder above .* is called 'elsewhere'": arm('<xacro:include filename="$(find elsewhere)/a.xacro"/>'),
    r"'\$\(env HOME\)' must be": arm('<xacro:property name="a" value="$(env HOME)"/><link name="${a}"/>'),
    r"'\$\(eval 1 \+ 1\)' must be": arm('<link name="$(eval 1 + 1)"/>'),
    "the argument 'prefix' must be given": arm(prefix=""),
    "must be arithmetic": arm('<link name="${().__class__.__base__}"/>'),
    "xacro.load_yaml.* must be arithmetic": arm("""<link name="${xacro.load_yaml('a.yaml')}"/>"""),
    "name 'width' is not defined": arm('<link name="${width}"/>'),
    "has a document type, which is not read": None,
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_a_file_may_not_ask_for_is_refused(tmp_path, words):
    pytest.importorskip("xacro")
    path = written(tmp_path / "r.xacro", REFUSED[words] or arm())
    if REFUSED[words] is None:
        path.write_text('<!DOCTYPE r [<!ENTITY a "b">]>' + path.read_text())
    with pytest.raises(ValueError, match=words):
        read_urdf(path)


PROGRAMS = (
    "(lambda: ().__class__)()",
    "[x for x in (1,)]",
    "open('/etc/passwd')",
    "python.open('a')",
    "a.b",
    "__import__('os')",
    "math.__dict__",
    "f'{a}'",
    "(a := 1)",
    "str.format('{0.__class__}', 1)",
    "1 +",
)


@pytest.mark.parametrize("expression", PROGRAMS)
def test_expressions_are_no_programs(expression):
    with pytest.raises(RefusedError, match="expression"):
        refuse_programs(expression)


ARITHMETIC = ("2 * pi", "math.sin(a) if b > 1 else -c[0]", "'x' + str(3)", "not a and b in (1, 2)", "xacro.arg('a')")


@pytest.mark.parametrize("expression", ARITHMETIC)
def test_expressions_are_arithmetic(expression):
    refuse_programs(expression)


def test_without_the_library_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "xacro.py").write_text("raise ModuleNotFoundError('xacro')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"pip install \"flexph\[xacro\]\""):
        read_urdf(written(tmp_path / "r.xacro", arm()))
