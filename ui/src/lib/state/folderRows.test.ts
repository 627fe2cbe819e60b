import { expect, it } from "vitest";
import type { Folder } from "../api/generated";
import { folderRows, placesFor } from "./folderRows";

const folder = (id: string, over: Partial<Folder> = {}): Folder => ({ id, kind: "chat", parent: null, name: id, color: null, collapsed: false, tag: null, ...over });
const item = (id: string, inFolder: string | null = null, pinned = false) => ({ id, place: { folder: inFolder, pinned, archived: false } });
const keys = (...args: Parameters<typeof folderRows>) => folderRows(...args).map((row) => `${"-".repeat(row.level)}${row.key}`);

it("pinned items come first, then folders, then the rest", () => {
	const items = [item("a"), item("b", "outer"), item("c", "inner"), item("d", null, true)];
	const folders = [folder("inner", { parent: "outer" }), folder("outer")];
	expect(keys(items, folders, () => [])).toEqual(["pinned/d", "outer", "-inner", "--inner/c", "-outer/b", "a"]);
});

it("a collapsed folder hides its content but counts it", () => {
	const folders = [folder("inner", { parent: "outer" }), folder("outer", { collapsed: true })];
	const rows = folderRows([item("b", "outer"), item("c", "inner")], folders, () => []);
	expect(rows).toHaveLength(1);
	expect(rows[0]).toMatchObject({ kind: "folder", count: 2 });
});

it("a smart folder shows every item with its tag", () => {
	const items = [item("a"), item("b")];
	expect(keys(items, [folder("cozy", { tag: "Cozy" })], ({ id }) => (id === "b" ? ["cozy"] : []))).toEqual(["cozy", "-cozy/b", "a", "b"]);
});

it("an item whose folder is unknown stays in the list", () => {
	expect(keys([item("a", "gone")], [], () => [])).toEqual(["a"]);
});

it("a folder cannot be put into itself or a smart one", () => {
	const folders = [folder("a"), folder("b", { parent: "a" }), folder("c"), folder("smart", { tag: "x" })];
	expect(placesFor(folders, "a").map((place) => place.folder.id)).toEqual(["c"]);
});
