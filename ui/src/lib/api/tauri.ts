import { Channel, convertFileSrc, invoke } from "@tauri-apps/api/core";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import type { Access, ProtectionReport, UnlockKind } from "./access";
import { asApiError } from "./errors";
import type { AddedModels, Backup, Backups, CardFormat, CharacterId, ChatFileFormat, EmbeddingModel, Endpoint, Event, ImportReport, LorebookFormat, Model, ModelState, PromptFile, ReadableOptions } from "./generated";
import type { Connection, Drops, ReportFormat, Transport } from "./transport";

async function ask<T>(command: string, args: Record<string, unknown> = {}): Promise<T> {
	try {
		return await invoke<T>(command, args);
	} catch (thrown) {
		throw asApiError(thrown);
	}
}

/** Transport for the desktop window: one command calls all operations. */
export class TauriTransport implements Transport {
	readonly addsModelFiles = true;
	readonly importsFolders = true;
	readonly desktop = true;
	/** `nook://localhost/`, or `http://nook.localhost/` on Windows, where WebView2 requires it. */
	readonly assetBase = convertFileSrc("", "nook");

	call = (operation: string, args: Record<string, unknown>) => ask<unknown>("call", { operation, arguments: JSON.stringify(args) });

	subscribe(listener: (event: Event) => void, connection: (state: Connection) => void): () => void {
		const events = new Channel<Event>();
		events.onmessage = listener;
		ask("subscribe", { events }).then(
			() => connection("live"),
			() => connection("lost"),
		);
		return () => (events.onmessage = () => {});
	}

	assetUrl = async (hash: string, small = false) => `${this.assetBase}${small ? "thumbnail" : "asset"}/${hash}`;

	pickImport = () => ask<ImportReport | null>("pick_import");

	pickSillytavern = async () => void (await ask<null>("pick_sillytavern"));

	saveTheme = (theme: string) => ask<string | null>("save_theme", { theme });

	saveReport = (report: string, format: ReportFormat) => ask<string | null>("save_report", { report, format });

	pickChats = (character: CharacterId) => ask<ImportReport | null>("pick_chats", { character });

	pickModel = () => ask<Model | null>("pick_model");
	pickModelFolder = () => ask<AddedModels | null>("pick_model_folder");

	pickAdapter = (model: string) => ask<ModelState | null>("pick_adapter", { model });
	pickProjector = (model: string) => ask<ModelState | null>("pick_projector", { model });
	pickEmbeddingModel = () => ask<EmbeddingModel | null>("pick_embedding_model");

	pickTokenizer = (endpoint: string) => ask<Endpoint | null>("pick_tokenizer", { endpoint });

	openLink = async (address: string) => void (await ask<null>("open_link", { address }));

	setZoom = async (factor: number) => void (await ask<null>("set_zoom", { factor }));

	/** Never called: the desktop shell imports dropped files itself. */
	importFiles = async (_files: File[]): Promise<ImportReport> => ({ imported: [], skipped: [], refused: [], cancelled: false, choices: [] });

	exportCharacter = (id: string, format: CardFormat) => ask<string | null>("export_character", { id, format });

	exportCharacters = (ids: string[], format: CardFormat) => ask<string | null>("export_characters", { ids, format });

	exportChat = (id: string, format: ChatFileFormat, options: ReadableOptions) => ask<string | null>("export_chat", { id, format, options });

	exportChats = (ids: string[], format: ChatFileFormat) => ask<string | null>("export_chats", { ids, format });

	exportLorebook = (id: string, format: LorebookFormat) => ask<string | null>("export_lorebook", { id, format });

	exportPromptFile = (kind: PromptFile, id: string) => ask<string | null>("export_prompt_file", { kind, id });

	exportMemories = (character: CharacterId) => ask<string | null>("export_memories", { character });

	pickSecondPlace = (_folder: string) => ask<Backups | null>("pick_second_place");

	exportArchive = () => ask<string | null>("export_archive");

	importArchive = () => ask<Backup | null>("import_archive");

	openBackups = async () => void (await ask<null>("open_backups"));

	openDataFolder = async () => void (await ask<null>("open_data_folder"));

	watchOpenings(listener: (paths: string[]) => void): () => void {
		const paths = new Channel<string[]>();
		paths.onmessage = listener;
		// It ends with the page. Without it, only files from outside the window are not imported.
		ask("watch_openings", { paths }).catch(() => {});
		return () => (paths.onmessage = () => {});
	}

	answerOpenings = async (accept: boolean, shown: number) => void (await ask<null>("answer_openings", { accept, shown }));

	watchClosing(save: () => Promise<unknown>): () => void {
		const requests = new Channel<null>();
		requests.onmessage = () => void save().finally(() => ask("page_saved").catch(() => {}));
		// It ends with the page. If it fails, closing does not wait for the page.
		ask("watch_closing", { requests }).catch(() => {});
		return () => (requests.onmessage = () => {});
	}

	clipboardPicture = () => ask<string | null>("clipboard_picture");

	notify = async (title: string, text: string) => void (await ask<null>("notify", { title, text }));

	restart = async () => void (await ask<null>("restart"));

	watchAccess(listener: (access: Access) => void): () => void {
		const access = new Channel<Access>();
		access.onmessage = listener;
		// It ends with the page. If it fails, the operations say why the data are not open.
		ask("watch_access", { access }).catch(() => listener({ state: "open" }));
		return () => (access.onmessage = () => {});
	}

	unlock = async (kind: UnlockKind, text: string) => void (await ask<null>("unlock", { kind, text }));

	lock = async () => void (await ask<null>("lock"));

	markActive = async () => void (await ask<null>("mark_active"));

	prepareProtection = (passphrase: string) => ask<string>("prepare_protection", { passphrase });

	forgetPreparation = async () => void (await ask<null>("forget_preparation"));

	protect = (code: string) => ask<ProtectionReport>("protect", { code });

	unprotect = (passphrase: string) => ask<ProtectionReport>("unprotect", { passphrase });

	restartLocked = async () => void (await ask<null>("restart_locked"));

	savedLanguage = () => ask<string>("saved_language");

	watchDrops(drops: Drops): () => void {
		const listening = getCurrentWebview().onDragDropEvent(({ payload }) => {
			if (payload.type !== "over") drops.over(payload.type === "enter");
		});
		return () => void listening.then((stop) => stop());
	}
}
