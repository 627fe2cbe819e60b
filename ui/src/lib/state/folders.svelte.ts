import type { Folder, FolderColor, FolderKind, PlacedItem } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { App } from "./app.svelte";
import { placesFor } from "./folderRows";

export const COLORS: readonly FolderColor[] = ["red", "orange", "yellow", "green", "blue", "purple"];

/** The folders of one list, and what users do with them and with the items in them. */
export class Folders {
	all = $state.raw<Folder[]>([]);
	/** The folder in the form; an empty id creates one. */
	edited = $state.raw<Folder | null>(null);
	/** The items for which the user chooses a folder. */
	moved = $state.raw<readonly string[] | null>(null);

	constructor(
		private readonly app: App,
		readonly kind: FolderKind,
	) {}

	/** Shows the folders of this list among all folders. */
	show(all: readonly Folder[]): void {
		this.all = all.filter(({ kind }) => kind === this.kind);
	}

	/** Opens the form for a new folder. */
	create(parent: string | null = null): void {
		this.edited = { id: "", kind: this.kind, parent, name: "", color: null, collapsed: false, tag: null };
	}

	save = (folder: Folder): Promise<void> =>
		this.app.attempt(async () => {
			await this.app.api.saveFolder(folder);
			await this.app.loadFolders();
		});

	toggle(folder: Folder): Promise<void> {
		return this.save({ ...folder, collapsed: !folder.collapsed });
	}

	delete(folder: Folder): Promise<void> {
		const { api } = this.app;
		return this.app.attempt(async () => {
			const deleted = await api.deleteFolder(folder.id);
			await this.#reload();
			this.app.offerUndo(t("toast.folderDeleted", { name: folder.name }), async () => {
				await api.restoreFolder(deleted);
				await this.#reload();
			});
		});
	}

	/** Moves items into a folder, or out of all folders, with undo. */
	move(items: readonly string[], folder: string | null): Promise<void> {
		const name = this.nameOf(folder);
		const text = (count: number) => (folder === null ? t("toast.itemsMovedOut", { count }) : t("toast.itemsMoved", { count, name }));
		return this.#change(() => this.app.api.moveToFolder(this.kind, [...items], folder), text);
	}

	/** Creates a folder and moves items into it. */
	moveToNew(items: readonly string[], name: string): Promise<void> {
		return this.app.attempt(async () => {
			const { id } = await this.app.api.saveFolder({ id: "", kind: this.kind, parent: null, name, color: null, collapsed: false, tag: null });
			await this.app.loadFolders();
			await this.move(items, id);
		});
	}

	pin(items: readonly string[], pinned: boolean): Promise<void> {
		const text = (count: number) => t(pinned ? "toast.itemsPinned" : "toast.itemsUnpinned", { count });
		return this.#change(() => this.app.api.pinItems(this.kind, [...items], pinned), text);
	}

	/** Archives items with undo, or puts them back into the list. */
	archive(items: readonly string[], archived: boolean): Promise<void> {
		const text = (count: number) => t(archived ? "toast.itemsArchived" : "toast.itemsUnarchived", { count });
		return this.#change(() => this.app.api.archiveItems(this.kind, [...items], archived), text);
	}

	/** Whether the folder can move into `parent`, and would change its place. */
	canMoveInto(folder: Folder, parent: string | null): boolean {
		if (parent === folder.parent) return false;
		return parent === null || placesFor(this.all, folder.id).some((place) => place.folder.id === parent);
	}

	/** Moves a folder with its content into another one, or to the top, with undo. */
	moveFolder(folder: Folder, parent: string | null): Promise<void> {
		const { api } = this.app;
		return this.app.attempt(async () => {
			await api.saveFolder({ ...folder, parent });
			await this.app.loadFolders();
			const text = parent === null ? t("toast.folderMovedOut", { name: folder.name }) : t("toast.folderMoved", { name: folder.name, parent: this.nameOf(parent) });
			this.app.offerUndo(text, async () => {
				await api.saveFolder(folder);
				await this.app.loadFolders();
			});
		});
	}

	nameOf(folder: string | null): string {
		return this.all.find(({ id }) => id === folder)?.name ?? "";
	}

	/** Runs a change of places and offers to undo it, if any place changed. */
	#change(action: () => Promise<PlacedItem[]>, text: (count: number) => string): Promise<void> {
		return this.app.attempt(async () => {
			const former = await action();
			await this.#reload();
			if (former.length === 0) return;
			this.app.offerUndo(text(former.length), async () => {
				await this.app.api.restorePlaces(this.kind, former);
				await this.#reload();
			});
		});
	}

	async #reload(): Promise<void> {
		await Promise.all([this.app.loadFolders(), this.app.loadLists()]);
	}
}
