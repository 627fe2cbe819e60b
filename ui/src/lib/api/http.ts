import { t } from "../i18n/i18n.svelte";
import { asApiError } from "./errors";
import type { ApiError, CardFormat, Endpoint, Event, ImportReport } from "./generated";
import type { Connection, Drops, Transport } from "./transport";

const TOKEN = "inglenook.token";
const CARDS = ".png,.json,.jsonl,.charx,.byaf,image/png,application/json";

/** Takes the token out of the address, so that it is neither seen nor kept in the history. */
export function takeToken(): string {
	const found = new URLSearchParams(location.hash.slice(1)).get("token");
	if (found) {
		sessionStorage.setItem(TOKEN, found);
		history.replaceState(null, "", location.pathname + location.search);
	}
	return sessionStorage.getItem(TOKEN) ?? "";
}

/** A browser's way: HTTP for operations, a WebSocket for events. */
export class HttpTransport implements Transport {
	readonly addsModelFiles = false;
	#pictures = new Map<string, Promise<string>>();

	constructor(private readonly token: string) {}

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

	/** An `<img>` sends no token, so the picture is fetched once and shown from memory. */
	assetUrl(hash: string): Promise<string> {
		const known = this.#pictures.get(hash);
		if (known) return known;
		const url = this.#fetch(`/asset/${hash}`)
			.then((answer) => answer.blob())
			.then((blob) => URL.createObjectURL(blob));
		this.#pictures.set(hash, url);
		url.catch(() => this.#pictures.delete(hash));
		return url;
	}

	async pickImport(): Promise<ImportReport | null> {
		const files = await chooseFiles(CARDS);
		return files.length === 0 ? null : this.importFiles(files);
	}

	pickModel = async () => null;

	async pickTokenizer(endpoint: string): Promise<Endpoint | null> {
		const [file] = await chooseFiles(".json,application/json", false);
		if (!file) return null;
		const answer = await this.#post(`/api/tokenizer/${encodeURIComponent(endpoint)}`, file);
		return answer.json();
	}

	async importFiles(files: File[]): Promise<ImportReport> {
		const whole: ImportReport = { imported: [], skipped: [], refused: [] };
		for (const file of files) {
			const report = await this.#import(file);
			whole.imported.push(...report.imported);
			whole.skipped.push(...report.skipped);
			whole.refused.push(...report.refused);
		}
		return whole;
	}

	async exportCharacter(id: string, format: CardFormat): Promise<string | null> {
		const answer = await this.#fetch(`/api/export/${id}/${format}`);
		const name = fileName(answer.headers.get("Content-Disposition")) ?? `character.${format === "png" ? "png" : "json"}`;
		download(await answer.blob(), name);
		return name;
	}

	watchDrops(drops: Drops): () => void {
		// Entering a child fires before leaving its parent, so the depth tells when the window is left.
		let depth = 0;
		const enter = (event: DragEvent) => carriesFiles(event) && ++depth === 1 && drops.over(true);
		const leave = (event: DragEvent) => carriesFiles(event) && --depth === 0 && drops.over(false);
		const over = (event: DragEvent) => carriesFiles(event) && event.preventDefault();
		const drop = (event: DragEvent) => {
			if (!carriesFiles(event)) return;
			event.preventDefault();
			depth = 0;
			drops.over(false);
			drops.dropped([...(event.dataTransfer?.files ?? [])]);
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

	async #import(file: File): Promise<ImportReport> {
		const answer = await this.#post(`/api/import?name=${encodeURIComponent(file.name)}`, file);
		return answer.json();
	}

	#post(path: string, file: File): Promise<Response> {
		return this.#fetch(path, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
	}

	async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
		const headers = { ...init.headers, Authorization: `Bearer ${this.token}` };
		let answer: Response;
		try {
			answer = await fetch(path, { ...init, headers });
		} catch {
			throw { kind: "internal", message: t("offline.call") } satisfies ApiError;
		}
		if (!answer.ok) throw await refusal(answer);
		return answer;
	}
}

/** A WebSocket that comes back, waiting longer each time. */
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
		// What happened meanwhile was not heard.
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

async function refusal(answer: Response): Promise<ApiError> {
	const text = await answer.text();
	try {
		return asApiError(JSON.parse(text));
	} catch {
		return { kind: "internal", message: answer.status === 401 ? t("offline.token") : `${answer.status} ${text}`.trim() };
	}
}

function chooseFiles(accept: string, multiple = true): Promise<File[]> {
	const input = document.createElement("input");
	Object.assign(input, { type: "file", multiple, accept });
	return new Promise((resolve) => {
		input.onchange = () => resolve([...(input.files ?? [])]);
		input.oncancel = () => resolve([]);
		input.click();
	});
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
