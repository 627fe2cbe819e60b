import type { ApiError, DeletedFolder, Event, Folder, FolderKind, PlacedItem, ListPlace } from "../../src/lib/api/generated";

/** The folders of the scripted engine, and the places of its chats and characters. */
export class MockFolders {
	all: Folder[] = [];
	readonly #places = new Map<string, ListPlace>();
	#next = 1;

	constructor(private readonly emit: (event: Event) => void) {}

	place(id: string): ListPlace {
		return this.#places.get(id) ?? { folder: null, pinned: false, archived: false };
	}

	op_list_folders = (): Folder[] => this.all.toSorted((one, other) => one.name.localeCompare(other.name));

	op_save_folder = ({ folder }: { folder: Folder }): Folder => {
		if (folder.name.trim() === "") throw { kind: "badInput", message: "A folder needs a name.", hint: "Write a few words." } satisfies ApiError;
		const saved = { ...folder, id: folder.id || `f${this.#next++}` };
		this.all = [...this.all.filter(({ id }) => id !== saved.id), saved];
		this.#changed(folder.kind);
		return saved;
	};

	op_delete_folder = ({ id }: { id: string }): DeletedFolder => {
		const folder = this.all.find((known) => known.id === id);
		if (!folder) throw { kind: "notFound", message: "This folder no longer exists." } satisfies ApiError;
		const folders = this.all.filter(({ parent }) => parent === id).map((inner) => inner.id);
		const items = [...this.#places].filter(([, place]) => place.folder === id).map(([item]) => item);
		this.all = this.all.filter((known) => known !== folder).map((known) => (known.parent === id ? { ...known, parent: folder.parent } : known));
		for (const item of items) this.#set(item, { folder: folder.parent });
		this.#changed(folder.kind);
		return { folder, folders, items };
	};

	op_restore_folder = ({ deleted }: { deleted: DeletedFolder }): void => {
		const { folder, folders, items } = deleted;
		this.all = [...this.all.map((known) => (folders.includes(known.id) ? { ...known, parent: folder.id } : known)), folder];
		for (const item of items) this.#set(item, { folder: folder.id });
		this.#changed(folder.kind);
	};

	op_move_to_folder = ({ kind, items, folder }: { kind: FolderKind; items: string[]; folder: string | null }): PlacedItem[] => this.#setAll(kind, items, { folder });
	op_pin_items = ({ kind, items, pinned }: { kind: FolderKind; items: string[]; pinned: boolean }): PlacedItem[] => this.#setAll(kind, items, { pinned });
	op_archive_items = ({ kind, items, archived }: { kind: FolderKind; items: string[]; archived: boolean }): PlacedItem[] => this.#setAll(kind, items, { archived });

	op_restore_places = ({ kind, places }: { kind: FolderKind; places: PlacedItem[] }): void => {
		for (const { id, place } of places) this.#set(id, place);
		this.#changed(kind);
	};

	#setAll(kind: FolderKind, items: string[], change: Partial<ListPlace>): PlacedItem[] {
		const changes = (place: ListPlace) => Object.entries(change).some(([key, value]) => place[key as keyof ListPlace] !== value);
		const former = items.map((id) => ({ id, place: this.place(id) })).filter(({ place }) => changes(place));
		for (const { id } of former) this.#set(id, change);
		this.#changed(kind);
		return former;
	}

	#set(item: string, change: Partial<ListPlace>): void {
		this.#places.set(item, { ...this.place(item), ...change });
	}

	#changed(kind: FolderKind): void {
		this.emit({ event: "changed", what: "folders", id: null });
		this.emit({ event: "changed", what: kind === "chat" ? "chats" : "characters", id: null });
	}
}
