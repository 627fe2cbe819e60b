import type { Folder, FolderColor, FolderKind } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { App } from "./app.svelte";

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

	async load(): Promise<void> {
		this.all = (await this.app.api.listFolders()).filter(({ kind }) => kind === this.kind);
	}

	/** Opens the form for a new folder. */
	create(parent: string | null = null): void {
		this.edited = { id: "", kind: this.kind, parent, name: "", color: null, collapsed: false, tag: null };
	}

	save = (folder: Folder): Promise<void> =>
		this.app.attempt(async () => {
			await this.app.api.saveFolder(folder);
			await this.load();
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

	move = (items: readonly string[], folder: string | null): Promise<void> => this.#change(() => this.app.api.moveToFolder(this.kind, [...items], folder));

	pin = (items: readonly string[], pinned: boolean): Promise<void> => this.#change(() => this.app.api.pinItems(this.kind, [...items], pinned));

	/** Archives items with undo, or puts them back into the list. */
	async archive(items: readonly string[], archived: boolean): Promise<void> {
		const set = (is: boolean) => this.#change(() => this.app.api.archiveItems(this.kind, [...items], is));
		await set(archived);
		if (archived) this.app.offerUndo(t("toast.itemsArchived", { count: items.length }), () => set(false));
	}

	#change(action: () => Promise<unknown>): Promise<void> {
		return this.app.attempt(async () => {
			await action();
			await this.#reload();
		});
	}

	async #reload(): Promise<void> {
		await Promise.all([this.load(), this.app.loadLists()]);
	}
}
