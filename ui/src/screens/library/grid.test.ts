import { expect, test } from "vitest";
import type { FolderRow } from "../../lib/state/folderRows";
import { columnsIn, linesOf } from "./grid";

test("cards fill the width, at least two per row", () => {
	expect([296, 366, 936, 1392].map(columnsIn)).toEqual([2, 2, 4, 6]);
});

const card = (item: string, drop: string | null = null, level = 0): FolderRow<string> => ({ kind: "item", key: `${drop}/${item}`, level, item, drop });
const folder = (id: string, level = 0): FolderRow<string> => ({ kind: "folder", key: id, level, count: 0, folder: { id, kind: "character", parent: null, name: id, color: null, collapsed: false, tag: null } });
const drawn = (rows: FolderRow<string>[], columns: number) => linesOf(rows, columns).map((line) => (line.kind === "folder" ? `[${line.folder.name}]` : line.cards.map(({ item }) => item).join("")));

test("lines contain every card in order", () => {
	expect(drawn(["a", "b", "c", "d", "e"].map((item) => card(item)), 2)).toEqual(["ab", "cd", "e"]);
	expect(drawn([], 3)).toEqual([]);
});

test("folders have lines of their own", () => {
	const rows = [folder("F"), card("a", "F", 1), folder("G", 1), card("b", "G", 2), card("c", "F", 1), card("d"), card("e")];
	expect(drawn(rows, 3)).toEqual(["[F]", "a", "[G]", "b", "c", "de"]);
});
