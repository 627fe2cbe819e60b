import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";
import type { Api } from "./api";

/** Begins the keys of this app in the storage of a browser. */
const OURS = "inglenook.";

/** Choices that the page keeps for its next start, such as the text size, by key. */
export interface PageValues {
	get(key: string): string | null;
	set(key: string, value: string): void;
	/** Reports failures to `failed`, also those from before. */
	report(failed: (error: ApiError) => void): void;
	/** Resolves when the engine has answered all saves. */
	saved(): Promise<void>;
}

/** Keeps the choices in this browser. */
export const browserValues: PageValues = {
	get: (key) => localStorage.getItem(key),
	set: (key, value) => localStorage.setItem(key, value),
	report: () => {},
	saved: async () => {},
};

/** Keeps the choices in the data folder, because the window of an encrypted folder has no storage of its own. */
export class FolderValues implements PageValues {
	readonly #values = new Map<string, string>();
	readonly #unsaved = new Set<string>();
	#sending: Promise<void> | null = null;
	/** The stored values are known. Otherwise a save could replace them with defaults. */
	#loaded = false;
	/** Only the first of several failures in a row is reported. */
	#failing = false;
	#unreported: ApiError | null = null;
	#failed = (error: ApiError): void => void (this.#unreported = error);

	constructor(private readonly api: Pick<Api, "pageValues" | "savePageValue">) {}

	/** Reads the stored values, and moves those of older versions out of the window's storage. */
	async load(): Promise<void> {
		try {
			for (const { key, value } of await this.api.pageValues()) this.#values.set(key, value);
			this.#loaded = true;
		} catch (thrown) {
			this.#fail(thrown);
			return;
		}
		for (const key of Object.keys(localStorage).filter((one) => one.startsWith(OURS))) await this.#move(key);
	}

	get(key: string): string | null {
		return this.#values.get(key) ?? null;
	}

	set(key: string, value: string): void {
		this.#values.set(key, value);
		if (!this.#loaded) return;
		this.#unsaved.add(key);
		this.#sending ??= this.#send();
	}

	report(failed: (error: ApiError) => void): void {
		this.#failed = failed;
		if (this.#unreported) failed(this.#unreported);
		[this.#unreported, this.#failing] = [null, false];
	}

	saved(): Promise<void> {
		return this.#sending ?? Promise.resolve();
	}

	/** A stored value is newer than one in the window's storage, which stays if it cannot be saved. */
	async #move(key: string): Promise<void> {
		const old = localStorage.getItem(key);
		if (old === null) return;
		if (!this.#values.has(key)) {
			this.#values.set(key, old);
			if (!(await this.#save(key))) return;
		}
		localStorage.removeItem(key);
	}

	/** Sends one value at a time. A value that changes meanwhile, such as a width that is dragged, is sent once more. */
	async #send(): Promise<void> {
		for (const key of this.#unsaved) {
			this.#unsaved.delete(key);
			await this.#save(key);
		}
		this.#sending = null;
	}

	async #save(key: string): Promise<boolean> {
		try {
			await this.api.savePageValue(key, this.get(key));
			this.#failing = false;
			return true;
		} catch (thrown) {
			this.#fail(thrown);
			return false;
		}
	}

	#fail(thrown: unknown): void {
		if (!this.#failing) this.#failed(asApiError(thrown));
		this.#failing = true;
	}
}

/** The choices of the data folder in the window. Several browsers can show one engine, and each keeps its own. */
export async function loadPageValues(api: Api): Promise<PageValues> {
	if (!api.shell.desktop) return browserValues;
	const values = new FolderValues(api);
	await values.load();
	return values;
}
