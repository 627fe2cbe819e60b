import { t } from "../i18n/i18n.svelte";
import { NoAccess } from "./access";
import { asApiError } from "./errors";
import type { ApiError, Backup, Backups, CardFormat, CharacterId, ChatFileFormat, Endpoint, Event, ImportReport, LorebookFormat, PromptFile, ReadableOptions } from "./generated";
import type { Connection, Drops, ReportFormat, Transport } from "./transport";

const TOKEN = "inglenook.token";
const CARDS = ".png,.apng,.json,.jsonl,.charx,.byaf,.yaml,.yml,.txt,.jpg,.jpeg,image/png,image/jpeg,application/json";

/** Removes the token from the address bar, so that it is neither visible nor stored in the browser history. */
export function takeToken(): string {
	const found = new URLSearchParams(location.hash.slice(1)).get("token");
	if (found) {
		sessionStorage.setItem(TOKEN, found);
		history.replaceState(null, "", location.pathname + location.search);
	}
	return sessionStorage.getItem(TOKEN) ?? "";
}

/** Transport for browsers: HTTP for operations and a WebSocket for events. */
export class HttpTransport extends NoAccess implements Transport {
	readonly addsModelFiles = false;
	readonly importsFolders = false;
	readonly desktop = false;
	/** Requests for pictures need the token, which an address must not contain. */
	readonly assetBase = null;
	#pictures = new Map<string, Promise<string>>();

	/** The page is being left, so that only requests that outlive it arrive. */
	#leaving = false;

	constructor(private readonly token: string) {
		super();
		const leave = (leaving: boolean) => () => (this.#leaving = leaving);
		window.addEventListener("beforeunload", leave(true), { capture: true });
		window.addEventListener("pagehide", leave(true), { capture: true });
		window.addEventListener("pageshow", leave(false), { capture: true });
	}

	call = async (operation: string, args: Record<string, unknown>): Promise<unknown> => {
		const answer = await this.#fetch(`/api/op/${operation}`, {
			method: "POST",
			body: JSON.stringify(args),
			headers: { "Content-Type": "application/json" },
		});
		const text = await answer.text();
		return text === "" ? null : JSON.parse(text);
	};

	subscribe(listener: (event: Event) => void, connection: (state: Connection) => void): () => void {
		const socket = new Reconnecting(() => this.#ticket(), listener, connection);
		socket.open();
		return () => socket.close();
	}

	openLink = async (address: string): Promise<void> => {
		window.open(address, "_blank", "noopener,noreferrer");
	};

	/** The browser has its own zoom. */
	setZoom = async (_factor: number): Promise<void> => {};

	/** An `<img>` cannot send the token, so the picture is fetched once and shown from a blob URL. */
	assetUrl(hash: string, small = false): Promise<string> {
		const path = `/${small ? "thumbnail" : "asset"}/${hash}`;
		const known = this.#pictures.get(path);
		if (known) return known;
		const url = this.#fetch(path)
			.then((answer) => answer.blob())
			.then((blob) => URL.createObjectURL(blob));
		this.#pictures.set(path, url);
		url.catch(() => this.#pictures.delete(path));
		return url;
	}

	async pickImport(): Promise<ImportReport | null> {
		const files = await chooseFiles(CARDS);
		return files.length === 0 ? null : this.importFiles(files);
	}

	/** A browser cannot name a folder on the server. Users run `nook import --sillytavern` there instead. */
	pickSillytavern = async () => {};

	async saveReport(report: string, format: ReportFormat): Promise<string> {
		const name = format === "json" ? "Import report.json" : "Import report.txt";
		download(new Blob([report], { type: format === "json" ? "application/json" : "text/plain" }), name);
		return name;
	}

	async saveTheme(theme: string): Promise<string> {
		const name = "Inglenook theme.json";
		download(new Blob([theme], { type: "application/json" }), name);
		return name;
	}

	async pickChats(character: CharacterId): Promise<ImportReport | null> {
		const files = await chooseFiles(".jsonl,.json,.txt");
		return files.length === 0 ? null : this.#importAll(files, `&character=${encodeURIComponent(character)}`);
	}

	pickModel = async () => null;
	pickModelFolder = async () => null;

	pickAdapter = async () => null;
	pickProjector = async () => null;
	pickEmbeddingModel = async () => null;

	async pickTokenizer(endpoint: string): Promise<Endpoint | null> {
		const [file] = await chooseFiles(".json,application/json", false);
		if (!file) return null;
		const answer = await this.#post(`/api/tokenizer/${encodeURIComponent(endpoint)}`, file);
		return answer.json();
	}

	importFiles(files: File[]): Promise<ImportReport> {
		return this.#importAll(files);
	}

	exportCharacter(id: string, format: CardFormat): Promise<string | null> {
		return this.#save(`/api/export/${id}/${format}`, `character.${format === "png" ? "png" : "json"}`);
	}

	exportChat(id: string, format: ChatFileFormat, options: ReadableOptions): Promise<string | null> {
		const parts = new URLSearchParams(Object.entries(options).map(([part, shown]) => [part, String(shown)]));
		return this.#save(`/api/export-chat/${id}/${format}?${parts}`, "chat");
	}

	exportCharacters(characters: string[], format: CardFormat): Promise<string | null> {
		const headers = { "Content-Type": "application/json" };
		return this.#save("/api/export-characters", "Inglenook.zip", { method: "POST", body: JSON.stringify({ characters, format }), headers });
	}

	exportChats(chats: string[], format: ChatFileFormat): Promise<string | null> {
		const headers = { "Content-Type": "application/json" };
		return this.#save("/api/export-chats", "Inglenook.zip", { method: "POST", body: JSON.stringify({ chats, format }), headers });
	}

	exportLorebook(id: string, format: LorebookFormat): Promise<string | null> {
		return this.#save(`/api/export-lorebook/${id}/${format}`, "lorebook.json");
	}

	exportPromptFile(kind: PromptFile, id: string): Promise<string | null> {
		return this.#save(`/api/export-prompt-file/${kind}/${encodeURIComponent(id)}`, "prompt.json");
	}

	exportMemories(character: CharacterId): Promise<string | null> {
		return this.#save(`/api/export-memories/${character}`, "memories.json");
	}

	async pickSecondPlace(folder: string): Promise<Backups> {
		const headers = { "Content-Type": "application/json" };
		const answer = await this.#fetch("/api/backup/second-place", { method: "POST", body: JSON.stringify({ folder }), headers });
		return answer.json();
	}

	exportArchive(): Promise<string | null> {
		return this.#save("/api/backup/archive", "Inglenook backup.zip");
	}

	async importArchive(): Promise<Backup | null> {
		const [file] = await chooseFiles(".zip,application/zip", false);
		if (!file) return null;
		return (await this.#post("/api/backup/archive", file)).json();
	}

	/** A browser can do neither, because the server may run on another machine. */
	openBackups = async () => {};

	openDataFolder = async () => {};

	/** A browser is started by no other program. */
	watchOpenings = () => () => {};

	answerOpenings = async () => {};

	/** The page listens for it itself: a browser tells nobody else. */
	watchClosing = () => () => {};

	/** Browsers put pictures into the paste event. */
	clipboardPicture = async () => null;

	notify = async () => {};
	restart = async () => {};

	watchDrops(drops: Drops): () => void {
		// `dragenter` of a child fires before `dragleave` of its parent, so a depth counter tells when the drag leaves the window.
		let depth = 0;
		const enter = (event: DragEvent) => carriesFiles(event) && ++depth === 1 && drops.over(true);
		const leave = (event: DragEvent) => carriesFiles(event) && --depth === 0 && drops.over(false);
		const over = (event: DragEvent) => carriesFiles(event) && event.preventDefault();
		const drop = (event: DragEvent) => {
			if (!carriesFiles(event)) return;
			event.preventDefault();
			depth = 0;
			drops.over(false);
			if (event.dataTransfer) void filesOf(event.dataTransfer).then((files) => drops.dropped(files));
		};
		const stop = new AbortController();
		const { signal } = stop;
		window.addEventListener("dragenter", enter, { signal });
		window.addEventListener("dragleave", leave, { signal });
		window.addEventListener("dragover", over, { signal });
		window.addEventListener("drop", drop, { signal });
		return () => stop.abort();
	}

	async #ticket(): Promise<string> {
		const answer = await this.#fetch("/api/ticket", { method: "POST" });
		return ((await answer.json()) as { ticket: string }).ticket;
	}

	/** Imports all files and returns one report. `more` is appended to the query of each request, after the file name. */
	async #importAll(files: File[], more = ""): Promise<ImportReport> {
		const whole: ImportReport = { imported: [], skipped: [], refused: [], cancelled: false, choices: [] };
		try {
			for (const file of files) {
				const answer = await this.#post(`/api/import?name=${encodeURIComponent(file.name)}&of_many=true${more}`, file);
				const report = (await answer.json()) as ImportReport;
				whole.imported.push(...report.imported);
				whole.skipped.push(...report.skipped);
				whole.refused.push(...report.refused);
				whole.choices = [...(whole.choices ?? []), ...(report.choices ?? [])];
			}
		} finally {
			// One report covers the whole selection, even if it failed midway.
			await this.call("keep_import_report", { report: whole });
		}
		return whole;
	}

	/** Downloads a file and returns its name; `otherwise` is the name if the server sends none. */
	async #save(path: string, otherwise: string, init: RequestInit = {}): Promise<string> {
		const answer = await this.#fetch(path, init);
		const name = fileName(answer.headers.get("Content-Disposition")) ?? otherwise;
		download(await answer.blob(), name);
		return name;
	}

	#post(path: string, file: File): Promise<Response> {
		return this.#fetch(path, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
	}

	async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
		const headers = { ...init.headers, Authorization: `Bearer ${this.token}` };
		let answer: Response;
		try {
			answer = await fetch(path, { ...init, headers, keepalive: this.#leaving && outlives(init.body) });
		} catch {
			throw { kind: "internal", message: t("offline.call") } satisfies ApiError;
		}
		if (!answer.ok) throw await refusal(answer);
		return answer;
	}
}

/** A WebSocket that reconnects, with a longer delay after each failure. */
class Reconnecting {
	#socket: WebSocket | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#failures = 0;
	#lost = false;
	#closed = false;

	constructor(
		private readonly ticket: () => Promise<string>,
		private readonly listener: (event: Event) => void,
		private readonly connection: (state: Connection) => void,
	) {}

	async open(): Promise<void> {
		try {
			const ticket = await this.ticket();
			if (this.#closed) return;
			const scheme = location.protocol === "https:" ? "wss" : "ws";
			const socket = new WebSocket(`${scheme}://${location.host}/api/events?ticket=${encodeURIComponent(ticket)}`);
			socket.onopen = () => this.#opened();
			socket.onmessage = (frame) => this.listener(JSON.parse(String(frame.data)) as Event);
			socket.onclose = () => this.#failed();
			this.#socket = socket;
		} catch {
			this.#failed();
		}
	}

	close(): void {
		this.#closed = true;
		clearTimeout(this.#timer);
		this.#socket?.close();
	}

	#opened(): void {
		this.#failures = 0;
		this.connection("live");
		// Events sent while the connection was down are lost.
		if (this.#lost) this.listener({ event: "missed" });
		this.#lost = false;
	}

	#failed(): void {
		if (this.#closed) return;
		this.#lost = true;
		this.connection("lost");
		const wait = Math.min(250 * 2 ** this.#failures++, 10_000);
		this.#timer = setTimeout(() => void this.open(), wait);
	}
}

/** Browsers let requests outlive their page up to 64 KiB in all. */
function outlives(body: RequestInit["body"]): boolean {
	return typeof body === "string" && body.length < 20_000;
}

async function refusal(answer: Response): Promise<ApiError> {
	const text = await answer.text();
	try {
		return asApiError(JSON.parse(text));
	} catch {
		return { kind: "internal", message: answer.status === 401 ? t("offline.token") : `${answer.status} ${text}`.trim() };
	}
}

/**
 * Opens the browser's file dialog. Returns no files if the user cancels it.
 *
 * The input stays in the document until the dialog closes: the browser may collect one that nothing refers to, and the choice would be lost.
 */
function chooseFiles(accept: string, multiple = true): Promise<File[]> {
	const input = document.createElement("input");
	Object.assign(input, { type: "file", multiple, accept, hidden: true, tabIndex: -1 });
	input.setAttribute("aria-hidden", "true");
	document.body.append(input);
	return new Promise((resolve) => {
		const finish = (files: File[]) => {
			input.remove();
			resolve(files);
		};
		input.onchange = () => finish([...(input.files ?? [])]);
		input.oncancel = () => finish([]);
		input.click();
	});
}

/** File extensions that are imported from a dropped folder, as in the desktop app. */
const FROM_FOLDERS = /\.(png|json|jsonl|charx|byaf)$/i;
const MOST_FILES = 10_000;

/** The dropped files, plus the files directly inside dropped folders. The desktop app imports folders the same way. */
async function filesOf(data: DataTransfer): Promise<File[]> {
	const entries = [...data.items].map((item) => item.webkitGetAsEntry());
	// Without entries there are no folders, so `files` is complete.
	if (entries.every((entry) => entry === null)) return [...data.files];
	const files: File[] = [];
	for (const entry of entries) {
		if (entry instanceof FileSystemFileEntry) files.push(await fileOf(entry));
		if (!(entry instanceof FileSystemDirectoryEntry)) continue;
		const inside = (await entriesIn(entry)).filter((one) => one instanceof FileSystemFileEntry && FROM_FOLDERS.test(one.name));
		for (const one of inside.sort((a, b) => (a.name < b.name ? -1 : 1))) files.push(await fileOf(one as FileSystemFileEntry));
	}
	return files.slice(0, MOST_FILES);
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
	return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** Reads all entries of a folder. `readEntries` returns at most 100 per call. */
async function entriesIn(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
	const reader = folder.createReader();
	const all: FileSystemEntry[] = [];
	for (;;) {
		const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
		if (some.length === 0 || all.length >= MOST_FILES) return all;
		all.push(...some);
	}
}

function carriesFiles(event: DragEvent): boolean {
	return event.dataTransfer?.types.includes("Files") ?? false;
}

function fileName(disposition: string | null): string | null {
	const utf8 = disposition?.match(/filename\*=UTF-8''([^;]+)/i)?.[1];
	if (utf8) return decodeURIComponent(utf8);
	return disposition?.match(/filename="([^"]+)"/i)?.[1] ?? null;
}

function download(blob: Blob, name: string): void {
	const url = URL.createObjectURL(blob);
	const link = document.createElement("a");
	Object.assign(link, { href: url, download: name });
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
