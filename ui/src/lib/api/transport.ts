import type { AccessControl } from "./access";
import type { AddedModels, Backup, Backups, CardFormat, CharacterId, ChatFileFormat, EmbeddingModel, Endpoint, Event, ImportReport, LorebookFormat, Model, ModelState, PromptFile, ReadableOptions } from "./generated";

/** State of the event connection to the engine. */
export type Connection = "connecting" | "live" | "lost";

/** File formats of an exported import report. */
export type ReportFormat = "text" | "json";

/** Callbacks for files dragged over the window. */
export interface Drops {
	/** `is` is true while files are over the window. */
	over(is: boolean): void;
	/** Dropped files that the page must pass to `importFiles`. The desktop window imports them without the page. */
	dropped(files: File[]): void;
}

/** Connection to the engine: Tauri IPC in the desktop window, HTTP and a WebSocket in a browser. */
export interface Transport extends AccessControl {
	/** Whether model files can be added by their path on this machine. */
	readonly addsModelFiles: boolean;
	/** Whether a whole folder of this machine can be imported. */
	readonly importsFolders: boolean;
	/** Whether the page runs in the desktop window. Only there can folders be chosen and opened, and the app restart. */
	readonly desktop: boolean;
	/** URL prefix of stored pictures; `null` if a URL alone cannot load them, because requests need a token. */
	readonly assetBase: string | null;
	/** Sends one operation; rejects with an `ApiError`. */
	call(operation: string, args: Record<string, unknown>): Promise<unknown>;
	/** Subscribes to all events until the returned function is called. After a lost connection, it delivers `missed`. */
	subscribe(listener: (event: Event) => void, connection: (state: Connection) => void): () => void;
	/** URL of a stored picture, or of its thumbnail, for an `<img>`. */
	assetUrl(hash: string, small?: boolean): Promise<string>;
	/** Opens a file dialog for cards and imports the selection; `null` if the user cancelled. */
	pickImport(): Promise<ImportReport | null>;
	/** Opens a dialog for a SillyTavern folder and imports it. Events report the progress and the end. */
	pickSillytavern(): Promise<void>;
	/** Saves the report of an import and returns its path; `null` if the user cancelled. */
	saveReport(report: string, format: ReportFormat): Promise<string | null>;
	/** Saves a theme file. `null` if the user cancelled. */
	saveTheme(theme: string): Promise<string | null>;
	/** Opens a file dialog for chats of a character and imports them; `null` if the user cancelled. */
	pickChats(character: CharacterId): Promise<ImportReport | null>;
	/** Opens a file dialog for a model file; `null` if the user cancelled. */
	pickModel(): Promise<Model | null>;
	/** Opens a dialog for a folder of model files and adds them without copying; `null` if the user cancelled. */
	pickModelFolder(): Promise<AddedModels | null>;
	/** Opens a file dialog for an adapter (LoRA) of a model; `null` if the user cancelled. */
	pickAdapter(model: string): Promise<ModelState | null>;
	/** Opens a file dialog for the file that reads pictures for a model (mmproj); `null` if the user cancelled. */
	pickProjector(model: string): Promise<ModelState | null>;
	/** Opens a file dialog for an embedding model; `null` if the user cancelled. */
	pickEmbeddingModel(): Promise<EmbeddingModel | null>;
	/** Opens a file dialog for the `tokenizer.json` of an endpoint's model; `null` if the user cancelled. */
	pickTokenizer(endpoint: string): Promise<Endpoint | null>;
	/** Opens a web or mail address in the system's default program. */
	openLink(address: string): Promise<void>;
	/** Sets the zoom factor of the page. Only in the desktop window. */
	setZoom(factor: number): Promise<void>;
	importFiles(files: File[]): Promise<ImportReport>;
	/** Exports the card and returns its path; `null` if the user cancelled. */
	exportCharacter(id: string, format: CardFormat): Promise<string | null>;
	/** Exports the cards and returns the path of the folder or archive; `null` if the user cancelled. */
	exportCharacters(ids: string[], format: CardFormat): Promise<string | null>;
	/** Exports the chat and returns its path; `null` if the user cancelled. */
	exportChat(id: string, format: ChatFileFormat, options: ReadableOptions): Promise<string | null>;
	/** Exports the chats and returns the path of the folder or archive; `null` if the user cancelled. */
	exportChats(ids: string[], format: ChatFileFormat): Promise<string | null>;
	/** Exports the lorebook and returns its path; `null` if the user cancelled. */
	exportLorebook(id: string, format: LorebookFormat): Promise<string | null>;
	/** Exports a script or template and returns the path of the file; `null` if the user cancelled. */
	exportPromptFile(kind: PromptFile, id: string): Promise<string | null>;
	/** Exports the memories and returns the path of the file; `null` if the user cancelled. */
	exportMemories(character: CharacterId): Promise<string | null>;
	/** Sets the folder for a second copy of every backup. The desktop shell opens a dialog; a browser passes `folder`. */
	pickSecondPlace(folder: string): Promise<Backups | null>;
	/** Exports all data to one archive and returns its path; `null` if the user cancelled. */
	exportArchive(): Promise<string | null>;
	/** Opens a dialog for an archive and adds it as a backup; `null` if the user cancelled. */
	importArchive(): Promise<Backup | null>;
	openBackups(): Promise<void>;
	/** Opens the data folder in the file manager. Only in the desktop window. */
	openDataFolder(): Promise<void>;
	/** Reports the paths that other programs ask to import, until the returned function is called. */
	watchOpenings(listener: (paths: string[]) => void): () => void;
	/** Imports the first `shown` of those files, or forgets them. */
	answerOpenings(accept: boolean, shown: number): Promise<void>;
	/** Calls `save` when the app is about to close, and lets it close when that is done. */
	watchClosing(save: () => Promise<unknown>): () => void;
	/** The picture in the clipboard as a PNG in base64, if the page's paste event does not have it; `null` if there is none. */
	clipboardPicture(): Promise<string | null>;
	/** Shows a notification of the desktop, unless the window is in front. */
	notify(title: string, text: string): Promise<void>;
	/** Restarts the app after the engine has stopped. */
	restart(): Promise<void>;
	watchDrops(drops: Drops): () => void;
}
