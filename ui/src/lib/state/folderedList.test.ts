import { expect, it } from "vitest";
import type { Folder } from "../api/generated";
import { FolderedList } from "./folderedList.svelte";

const item = (id: string, folder: string | null = null) => ({ id, tags: ["sea"], place: { folder, pinned: false, archived: false } });
const folder = (id: string, over: Partial<Folder> = {}): Folder => ({ id, kind: "chat", parent: null, name: id, color: null, collapsed: false, tag: null, ...over });

function listed(folders: Folder[] = []) {
	const list = new FolderedList({ items: () => [item("a", "F"), item("b"), item("c"), item("d")], folders: () => folders, tagsOf: ({ tags }) => tags });
	const row = (id: string) => {
		const found = list.rows.findLast((one) => one.kind === "item" && one.item.id === id);
		return { key: found?.key ?? "", id };
	};
	return { list, row, chosen: () => list.chosen.map(({ id }) => id).join("") };
}

const press = { shiftKey: false, ctrlKey: false, metaKey: false };

it("a click opens, unless the user is selecting", () => {
	const { list, row, chosen } = listed();
	expect(list.pick(row("b"), press)).toBe(false);
	list.startSelecting();
	expect([list.pick(row("b"), press), chosen()]).toEqual([true, "b"]);
	list.pick(row("b"), press);
	expect([list.selecting, chosen()]).toEqual([true, ""]);
	list.stopSelecting();
	expect(list.pick(row("b"), press)).toBe(false);
});

it("another range replaces the last one", () => {
	const { list, row, chosen } = listed();
	list.pick(row("b"), { ...press, ctrlKey: true });
	list.pick(row("d"), { ...press, shiftKey: true });
	expect(chosen()).toBe("bcd");
	list.pick(row("a"), { ...press, shiftKey: true });
	expect(chosen()).toBe("ab");
});

it("a hidden item is not among the chosen", () => {
	const { list, row, chosen } = listed([folder("F", { collapsed: true })]);
	list.selection.toggle({ key: "F/a", id: "a" });
	list.selection.toggle(row("b"));
	expect(chosen()).toBe("b");
	list.chooseAll();
	expect(chosen()).toBe("bcd");
});

it("an item in two folders is chosen once", () => {
	const { list, row, chosen } = listed([folder("F"), folder("Smart", { tag: "sea" })]);
	list.selection.toggle({ key: "Smart/c", id: "c" });
	list.extend({ key: "Smart/d", id: "d" });
	expect(chosen()).toBe("cd");
	expect(list.visible.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
	expect(row("d").key).toBe("d");
});
