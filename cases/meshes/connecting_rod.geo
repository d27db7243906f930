// A connecting rod cut from a plate: two eyes, a prismatic shank, fillets between them. Lengths in m.
//
//     gmsh -3 connecting_rod.geo -o connecting_rod.msh
//
// writes the mesh of the case solid-crank-slider (gmsh 4: pip install gmsh). "-setnumber cells 40" makes a finer one;
// the origin is the centre of the big bore, x goes to the centre of the small one, z across the plate.

DefineConstant[
  length    = {0.30,      Name "distance of the bores"},
  diameter  = {6e-3,      Name "diameter of the circle whose area and second moment the shank has"},
  big       = {8e-3,      Name "radius of the big bore"},
  big_eye   = {13e-3,     Name "outer radius of the big eye"},
  small     = {5e-3,      Name "radius of the small bore"},
  small_eye = {9e-3,      Name "outer radius of the small eye"},
  fillet    = {12e-3,     Name "radius of the fillets"},
  cells     = {18,        Name "cells along each half of the shank"},
  across    = {2,         Name "cells over the height of the shank"},
  layers    = {1,         Name "cells over the thickness"},
  size      = {4e-3,      Name "size of cells in the eyes"}
];

height = Sqrt(3) / 2 * diameter;
thickness = Pi / 4 * diameter^2 / height;
h = height / 2;

// one eye and its fillets: where the arcs touch, from the centre at x = at, the shank in the direction of side
Macro Eye
  up = h + fillet;
  along = side * Sqrt((outer + fillet)^2 - up^2);
  t = outer / (outer + fillet);
  centre = newp; Point(centre) = {at, 0, -thickness / 2, size};
  For s In {0 : 1}
    y = 1 - 2 * s;
    hub[s] = newp; Point(hub[s]) = {at + along, y * up, -thickness / 2, size};
    touch[s] = newp; Point(touch[s]) = {at + t * along, y * t * up, -thickness / 2, size};
    root[s] = newp; Point(root[s]) = {at + along, y * h, -thickness / 2, size};
    around[s] = newp; Point(around[s]) = {at, y * outer, -thickness / 2, size};
    hole[s] = newp; Point(hole[s]) = {at, y * bore, -thickness / 2, size};
  EndFor
  back = newp; Point(back) = {at - side * outer, 0, -thickness / 2, size};
  front = newp; Point(front) = {at + side * bore, 0, -thickness / 2, size};
  rear = newp; Point(rear) = {at - side * bore, 0, -thickness / 2, size};
  neck = newl; Line(neck) = {root[1], root[0]};
  l = newl;
  Circle(l) = {root[0], hub[0], touch[0]};
  Circle(l + 1) = {touch[0], centre, around[0]};
  Circle(l + 2) = {around[0], centre, back};
  Circle(l + 3) = {back, centre, around[1]};
  Circle(l + 4) = {around[1], centre, touch[1]};
  Circle(l + 5) = {touch[1], hub[1], root[1]};
  Circle(l + 6) = {front, centre, hole[0]};
  Circle(l + 7) = {hole[0], centre, rear};
  Circle(l + 8) = {rear, centre, hole[1]};
  Circle(l + 9) = {hole[1], centre, front};
  outline = newll; Curve Loop(outline) = {neck, l, l + 1, l + 2, l + 3, l + 4, l + 5};
  inside = newll; Curve Loop(inside) = {l + 6, l + 7, l + 8, l + 9};
  face = news; Plane Surface(face) = {outline, inside};
Return

at = 0; side = 1; bore = big; outer = big_eye;
Call Eye;
big_face = face; big_neck = neck; big_root[] = root[];

at = length; side = -1; bore = small; outer = small_eye;
Call Eye;
small_face = face; small_neck = neck; small_root[] = root[];

// the shank in two halves, so that there is a section in its middle
For s In {0 : 1}
  half[s] = newp; Point(half[s]) = {length / 2, (1 - 2 * s) * h, -thickness / 2, size};
EndFor
middle = newl; Line(middle) = {half[1], half[0]};
l = newl;
Line(l) = {big_root[0], half[0]};
Line(l + 1) = {half[0], small_root[0]};
Line(l + 2) = {small_root[1], half[1]};
Line(l + 3) = {half[1], big_root[1]};
first_loop = newll; Curve Loop(first_loop) = {big_neck, l, -middle, l + 3};
second_loop = newll; Curve Loop(second_loop) = {middle, l + 1, -small_neck, l + 2};
first_face = news; Plane Surface(first_face) = {first_loop};
second_face = news; Plane Surface(second_face) = {second_loop};
Transfinite Curve {big_neck, middle, small_neck} = across + 1;
Transfinite Curve {l : l + 3} = cells + 1;
Transfinite Surface {first_face, second_face};

made_big[] = Extrude {0, 0, thickness} { Surface{big_face}; Layers{layers}; };
made_small[] = Extrude {0, 0, thickness} { Surface{small_face}; Layers{layers}; };
made_first[] = Extrude {0, 0, thickness} { Surface{first_face}; Layers{layers}; };
made_second[] = Extrude {0, 0, thickness} { Surface{second_face}; Layers{layers}; };
Coherence;

// the sides of an extrusion come after its top and its volume, in the order of the curves: of an eye, the neck, six of
// the outline and four of the bore
Physical Surface("big eye") = {made_big[{9 : 12}]};
Physical Surface("small eye") = {made_small[{9 : 12}]};
Physical Surface("eyes") = {made_big[{9 : 12}], made_small[{9 : 12}]};
Physical Surface("middle") = {made_second[2]};
Physical Volume("rod") = {made_big[1], made_first[1], made_second[1], made_small[1]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
