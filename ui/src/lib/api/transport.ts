import type { Backup, Backups, CardFormat, ChatFileFormat, Endpoint, Event, ImportReport, LorebookFormat, Model, PromptFile } from "./generated";

/** Whether news from the engine arrives. */
export type Connection = "connecting" | "live" | "lost";

/** The forms that the report of an import can be saved in. */
export type ReportFormat = "text" | "json";

/** How files dragged over the window are told. */
export interface Drops {
	/** Files are over the window, or no longer. */
	over(is: boolean): void;
	/** Files the page itself must hand to `importFiles`; a desktop window imports them without the page. */
	dropped(files: File[]): void;
}

/** The way to the engine: Tauri's IPC in the window, HTTP and a socket in a browser. */
export interface Transport {
	/** A model file can be added by its place on this machine. */
	readonly addsModelFiles: boolean;
	/** A whole folder of this machine can be imported. */
	readonly importsFolders: boolean;
	/** The page runs in the desktop window, where folders can be chosen and opened, and the app can restart. */
	readonly desktop: boolean;
	/** The prefix of addresses of stored pictures; `null` if an address alone does not suffice to show one. */
	readonly assetBase: string | null;
	/** Sends one operation; rejects with an `ApiError`. */
	call(operation: string, args: Record<string, unknown>): Promise<unknown>;
	/** Hears all events until the returned function is called. After a lost connection it says `missed`. */
	subscribe(listener: (event: Event) => void, connection: (state: Connection) => void): () => void;
	/** Address of a stored picture, or of its small copy, for an `<img>`. */
	assetUrl(hash: string, small?: boolean): Promise<string>;
	/** Lets the user choose cards; `null` when nothing was chosen. */
	pickImport(): Promise<ImportReport | null>;
	/** Lets the user choose a folder of SillyTavern's and imports it; events tell of its progress and its end. */
	pickSillytavern(): Promise<void>;
	/** Where the report of an import went; `null` when the user thought better of it. */
	saveReport(report: string, format: ReportFormat): Promise<string | null>;
	/** Lets the user choose files of chats for a character; `null` when nothing was chosen. */
	pickChats(character: string): Promise<ImportReport | null>;
	/** Lets the user choose a model file; `null` when nothing was chosen. */
	pickModel(): Promise<Model | null>;
	/** Lets the user choose the `tokenizer.json` of an endpoint's model; `null` when nothing was chosen. */
	pickTokenizer(endpoint: string): Promise<Endpoint | null>;
	/** Opens a web or mail address in the system's default program. */
	openLink(address: string): Promise<void>;
	/** Sets the zoom factor of the page. Only in the desktop window. */
	setZoom(factor: number): Promise<void>;
	importFiles(files: File[]): Promise<ImportReport>;
	/** Where the card went; `null` when the user thought better of it. */
	exportCharacter(id: string, format: CardFormat): Promise<string | null>;
	/** Where the cards went: a folder, or an archive; `null` when the user thought better of it. */
	exportCharacters(ids: string[], format: CardFormat): Promise<string | null>;
	/** Where the chat went; `null` when the user thought better of it. */
	exportChat(id: string, format: ChatFileFormat): Promise<string | null>;
	/** Where the lorebook went; `null` when the user thought better of it. */
	exportLorebook(id: string, format: LorebookFormat): Promise<string | null>;
	/** Where the script or template went; `null` when the user cancelled. */
	exportPromptFile(kind: PromptFile, id: string): Promise<string | null>;
	/** Where the memories went; `null` when the user thought better of it. */
	exportMemories(character: string): Promise<string | null>;
	/** Sets the folder for a second copy of every backup. A dialog asks for it in the window; a browser passes `folder`. */
	pickSecondPlace(folder: string): Promise<Backups | null>;
	/** Exports everything to one archive. Returns its place; `null` if the user cancelled. */
	exportArchive(): Promise<string | null>;
	/** Lets the user choose an archive, which becomes a backup; `null` if the user cancelled. */
	importArchive(): Promise<Backup | null>;
	/** Opens the backup folder. */
	openBackups(): Promise<void>;
	/** Restarts the app after the engine has stopped. */
	restart(): Promise<void>;
	watchDrops(drops: Drops): () => void;
}
