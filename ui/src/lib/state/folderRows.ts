import type { Folder, ListPlace } from "../api/generated";
import { folded } from "./find";

/** An item in a list with folders. */
export interface ItemRow<Item> {
	kind: "item";
	key: string;
	level: number;
	item: Item;
	/** The folder into which an item that is dropped on the row moves; `undefined` for a row that takes none. */
	drop: string | null | undefined;
}

/** A folder, or an item of a list with folders. `level` counts the folders around it. */
export type FolderRow<Item> = { kind: "folder"; key: string; level: number; folder: Folder; count: number } | ItemRow<Item>;

export interface Placed {
	id: string;
	place: ListPlace;
}

/**
 * The rows of a list with folders: pinned items, then folders with their content, then the other items. The items keep
 * their order. A smart folder shows the items with its tag, which stay in their own places as well.
 */
export function folderRows<Item extends Placed>(items: readonly Item[], folders: readonly Folder[], tagsOf: (item: Item) => readonly string[]): FolderRow<Item>[] {
	const known = new Set(folders.map(({ id }) => id));
	const home = (id: string | null) => (id !== null && known.has(id) ? id : null);
	const inside = grouped(items.filter(({ place }) => !place.pinned), ({ place }) => home(place.folder));
	const below = grouped(folders, ({ parent }) => home(parent));
	const rows: FolderRow<Item>[] = items.filter(({ place }) => place.pinned).map((item) => ({ kind: "item", key: `pinned/${item.id}`, level: 0, item, drop: undefined }));

	const contentOf = ({ id, tag }: Folder): readonly Item[] => {
		if (tag === null) return inside.get(id) ?? [];
		const wanted = folded(tag);
		return items.filter((item) => tagsOf(item).some((one) => folded(one) === wanted));
	};
	const countOf = (folder: Folder): number => contentOf(folder).length + (below.get(folder.id) ?? []).reduce((sum, inner) => sum + countOf(inner), 0);
	const add = (folder: Folder, level: number): void => {
		rows.push({ kind: "folder", key: folder.id, level, folder, count: countOf(folder) });
		if (folder.collapsed) return;
		for (const inner of below.get(folder.id) ?? []) add(inner, level + 1);
		for (const item of contentOf(folder)) rows.push({ kind: "item", key: `${folder.id}/${item.id}`, level: level + 1, item, drop: folder.tag === null ? folder.id : undefined });
	};
	for (const folder of below.get(null) ?? []) add(folder, 0);
	for (const item of inside.get(null) ?? []) rows.push({ kind: "item", key: item.id, level: 0, item, drop: null });
	return rows;
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string | null): ReadonlyMap<string | null, T[]> {
	const groups = new Map<string | null, T[]>();
	for (const one of all) {
		const group = groups.get(keyOf(one));
		if (group) group.push(one);
		else groups.set(keyOf(one), [one]);
	}
	return groups;
}

/** The folders that can contain `moved`: not itself, none inside it, no smart ones. Outer folders come before inner ones. */
export function placesFor(folders: readonly Folder[], moved: string | null = null): { folder: Folder; level: number }[] {
	const places: { folder: Folder; level: number }[] = [];
	const add = (parent: string | null, level: number): void => {
		for (const folder of folders) {
			if (folder.parent !== parent || folder.id === moved || folder.tag !== null) continue;
			places.push({ folder, level });
			add(folder.id, level + 1);
		}
	};
	add(null, 0);
	return places;
}
