import type { Attachment } from "svelte/attachments";
import type { Folder } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { FolderedList } from "./folderedList.svelte";
import type { Placed } from "./folderRows";
import type { Folders } from "./folders.svelte";

/** Distance in pixels after which a press becomes a drag. */
const START = 6;
/** Distance from the edge of the list, in pixels, within which a drag scrolls it. */
const EDGE = 40;
/** Scroll speed there, in pixels per frame. */
const PACE = 9;

/** The dragged items of the list, or the dragged folder. */
type Dragged = { items: readonly string[]; label: string } | { folder: Folder; label: string };

/**
 * Dragging items and folders of a list into folders. It uses pointer events, because HTML drag and drop is reserved for
 * files dropped on the window. Rows have their item in `data-drag-item` or their folder in `data-drag-folder`, and the
 * folder into which a drop on them moves in `data-drop`; it is empty for the place outside of all folders. Without a
 * pointer, menus move items and folders.
 */
export class FolderDrag<Item extends Placed> {
	dragged = $state.raw<Dragged | null>(null);
	/** The folder that would receive the drop, `null` for the place outside of all folders, `undefined` for none. */
	over = $state<string | null | undefined>(undefined);
	position = $state.raw({ x: 0, y: 0 });
	#pressed: { row: HTMLElement; x: number; y: number; pointer: number } | null = null;
	#frame = 0;

	constructor(
		private readonly folders: Folders,
		private readonly list: FolderedList<Item>,
		private readonly host: { nameOf: (item: Item) => string; announce: (text: string) => void },
	) {}

	/** Text next to the pointer. */
	get label(): string {
		if (!this.dragged) return "";
		const { label } = this.dragged;
		if (this.over === undefined) return label;
		return this.over === null ? t("folders.dragOut", { label }) : t("folders.dragInto", { label, name: this.folders.nameOf(this.over) });
	}

	readonly attach: Attachment<HTMLElement> = (rows) => {
		const stop = new AbortController();
		const { signal } = stop;
		rows.addEventListener("pointerdown", this.#press, { signal });
		rows.addEventListener("pointermove", (event) => this.#move(event, rows), { signal });
		rows.addEventListener("pointerup", this.#release, { signal });
		rows.addEventListener("pointercancel", this.cancel, { signal });
		// Pictures in the rows would start a drag of their own.
		rows.addEventListener("dragstart", (event) => event.preventDefault(), { signal });
		window.addEventListener("keydown", this.#key, { signal, capture: true });
		return () => {
			this.cancel();
			stop.abort();
		};
	};

	cancel = (): void => {
		cancelAnimationFrame(this.#frame);
		this.#pressed = null;
		[this.dragged, this.over] = [null, undefined];
	};

	#press = (event: PointerEvent): void => {
		const row = (event.target as Element).closest<HTMLElement>("[data-drag-item], [data-drag-folder]");
		// A finger scrolls the list.
		if (event.button !== 0 || event.pointerType === "touch" || !row || (event.target as Element).closest(".row-menu")) return;
		this.#pressed = { row, x: event.clientX, y: event.clientY, pointer: event.pointerId };
	};

	#move(event: PointerEvent, rows: HTMLElement): void {
		this.position = { x: event.clientX, y: event.clientY };
		if (this.#pressed && !this.dragged) {
			const { row, x, y, pointer } = this.#pressed;
			if (Math.hypot(event.clientX - x, event.clientY - y) < START) return;
			this.dragged = this.#take(row);
			if (!this.dragged) return this.cancel();
			rows.setPointerCapture(pointer);
			this.#frame = requestAnimationFrame(() => this.#scroll(rows));
		}
		if (this.dragged) this.#look(rows);
	}

	#release = (): void => {
		const { dragged, over } = this;
		this.cancel();
		if (!dragged) return;
		ignoreNextClick();
		if (over === undefined) return this.host.announce(t("folders.dragStopped"));
		if ("folder" in dragged) void this.folders.moveFolder(dragged.folder, over);
		else void this.folders.move(dragged.items, over);
	};

	#key = (event: KeyboardEvent): void => {
		if (event.key !== "Escape" || !this.dragged) return;
		event.preventDefault();
		event.stopPropagation();
		this.cancel();
		ignoreNextClick();
		this.host.announce(t("folders.dragStopped"));
	};

	/** The items that a drag of the row moves. A selected item takes the other selected ones along. */
	#take({ dataset }: HTMLElement): Dragged | null {
		const folder = this.folders.all.find(({ id }) => id === dataset["dragFolder"]);
		if (folder) return { folder, label: folder.name };
		const item = this.list.visible.find(({ id }) => id === dataset["dragItem"]);
		if (!item) return null;
		const items = this.list.selection.has(item.id) ? this.list.chosen.map(({ id }) => id) : [item.id];
		return { items, label: items.length === 1 ? this.host.nameOf(item) : t("folders.dragMany", { count: items.length }) };
	}

	/** Finds the folder under the pointer. The free space below the rows is outside of all folders. */
	#look(rows: HTMLElement): void {
		const { x, y } = this.position;
		const under = document.elementFromPoint(x, y);
		const row = under?.closest<HTMLElement>("[data-drag-item], [data-drag-folder]");
		let over: string | null | undefined;
		if (under && rows.contains(under)) over = row ? targetOf(row) : null;
		if (over !== undefined && !this.#accepts(over)) over = undefined;
		if (over === this.over) return;
		this.over = over;
		if (over !== undefined) this.host.announce(this.label);
	}

	#accepts(over: string | null): boolean {
		if (!this.dragged) return false;
		if ("folder" in this.dragged) return this.folders.canMoveInto(this.dragged.folder, over);
		const { items } = this.dragged;
		return this.list.visible.some(({ id, place }) => items.includes(id) && place.folder !== over);
	}

	#scroll = (rows: HTMLElement): void => {
		const { top, bottom } = rows.getBoundingClientRect();
		const before = rows.scrollTop;
		if (this.position.y < top + EDGE) rows.scrollTop -= PACE;
		if (this.position.y > bottom - EDGE) rows.scrollTop += PACE;
		if (rows.scrollTop !== before) this.#look(rows);
		this.#frame = requestAnimationFrame(() => this.#scroll(rows));
	};
}

function targetOf({ dataset }: HTMLElement): string | null | undefined {
	const drop = dataset["drop"];
	return drop === "" ? null : drop;
}

/** The release of the pointer after a drag must not open the row. */
function ignoreNextClick(): void {
	const ignore = (event: MouseEvent) => {
		event.preventDefault();
		event.stopPropagation();
	};
	window.addEventListener("click", ignore, { capture: true, once: true });
	setTimeout(() => window.removeEventListener("click", ignore, { capture: true }), 0);
}
