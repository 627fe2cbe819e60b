import type { FolderedList } from "./folderedList.svelte";
import type { Placed } from "./folderRows";
import type { SelectableRow } from "./selection.svelte";

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

/**
 * Selects rows of a list by keyboard: Space selects the focused row, and Shift with an arrow key extends the selection.
 * Ctrl+A selects all, Escape ends it. `move` moves the focus on an arrow key. Rows have their key and the id of their
 * item in `data-key` and `data-id`. Returns whether the key was handled.
 */
export function selectByKeyboard<Item extends Placed>(event: KeyboardEvent, list: FolderedList<Item>, move: () => void): boolean {
	const row = focusedRow();
	if (event.key === " " && row && !event.ctrlKey && !event.altKey) list.selection.toggle(row);
	else if (event.shiftKey && ARROWS.includes(event.key) && row) extend(list, row, move);
	else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a") list.chooseAll();
	else if (event.key === "Escape" && list.selecting) list.stopSelecting();
	else return false;
	event.preventDefault();
	return true;
}

function extend<Item extends Placed>(list: FolderedList<Item>, row: SelectableRow, move: () => void): void {
	if (!list.selection.has(row.id)) list.selection.toggle(row);
	move();
	const next = focusedRow();
	if (next) list.extend(next);
}

function focusedRow(): SelectableRow | null {
	const { key, id } = (document.activeElement as HTMLElement | null)?.dataset ?? {};
	return key !== undefined && id !== undefined ? { key, id } : null;
}
