import type { Folder } from "../api/generated";
import { mapOf, setOf } from "./find";
import { folderRows, type FolderRow, type Placed } from "./folderRows";
import { Selection, type SelectableRow } from "./selection.svelte";

type Keys = Pick<MouseEvent, "shiftKey" | "ctrlKey" | "metaKey">;

/** The content of a list. */
interface Source<Item> {
	items: () => readonly Item[];
	/** Empty to show the items without folders, as in the results of a search. */
	folders: () => readonly Folder[];
	tagsOf: (item: Item) => readonly string[];
}

/** A list with folders: its rows, and the selected items among them. */
export class FolderedList<Item extends Placed> {
	readonly selection = new Selection();
	readonly rows: readonly FolderRow<Item>[] = $derived.by(() => folderRows(this.source.items(), this.source.folders(), this.source.tagsOf));
	/** The selected items that are visible. Bulk actions must not affect hidden items. */
	readonly chosen: readonly Item[] = $derived.by(() => (this.selection.size === 0 ? [] : this.visible.filter(({ id }) => this.selection.has(id))));
	/** The items of all rows, each once. */
	readonly visible: readonly Item[] = $derived.by(() => [...mapOf(this.rows.flatMap((row) => (row.kind === "item" ? [[row.item.id, row.item] as const] : []))).values()]);
	#started = $state(false);

	constructor(private readonly source: Source<Item>) {}

	/** A click selects an item instead of opening it. */
	get selecting(): boolean {
		return this.#started || this.selection.size > 0;
	}

	startSelecting(): void {
		this.#started = true;
	}

	stopSelecting(): void {
		this.#started = false;
		this.selection.clear();
	}

	/** Handles a click on a row. Returns true if it changed the selection, false if it should open the item. */
	pick(row: SelectableRow, { shiftKey, ctrlKey, metaKey }: Keys): boolean {
		if (shiftKey) this.extend(row);
		else if (ctrlKey || metaKey || this.selecting) this.selection.toggle(row);
		else return false;
		return true;
	}

	extend(row: SelectableRow): void {
		this.selection.extend(row, this.#selectable());
	}

	chooseAll(): void {
		this.selection.choose(this.visible.map(({ id }) => id));
	}

	/** Removes selected items that no longer exist. */
	keep(items: readonly Item[]): void {
		if (this.selection.size > 0) this.selection.keep(setOf(items.map(({ id }) => id)));
	}

	#selectable(): SelectableRow[] {
		return this.rows.flatMap((row) => (row.kind === "item" ? [{ key: row.key, id: row.item.id }] : []));
	}
}
