import { expect, test } from "vitest";
import { columnsIn, rowsOf } from "./grid";

test("cards fill the width, at least two per row", () => {
	expect([296, 366, 936, 1392].map(columnsIn)).toEqual([2, 2, 4, 6]);
});

test("rows contain every card in order", () => {
	expect(rowsOf(["a", "b", "c", "d", "e"], 2)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
	expect(rowsOf([], 3)).toEqual([]);
});
