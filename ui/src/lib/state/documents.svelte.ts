import { asApiError } from "../api/errors";
import type { ApiError, AttachedDocument, DocumentOwner } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import { base64 } from "./base64";

/** What the file dialog offers. What has no text is refused by the engine, whatever it is called. */
export const TEXTS = "text/plain,text/markdown,text/html,application/epub+zip,application/pdf,.txt,.md,.markdown,.html,.htm,.xhtml,.epub,.pdf";

interface Surroundings {
	/** A document is gone; `undo` brings it back. */
	detached(name: string, undo: () => Promise<void>): void;
	failed(error: ApiError): void;
	said(text: string): void;
	/** The next prompt is another one than before. */
	turned(): void;
}

/** Texts that are attached to a chat, a character or a lorebook. What is refused is told and changes nothing. */
export class Documents {
	all = $state.raw<AttachedDocument[] | null>(null);
	/** Why the list is not there. */
	failure = $state.raw<ApiError | null>(null);
	/** Files that are being taken in. */
	coming = $state(0);
	#asked = 0;

	constructor(
		private readonly api: Api,
		readonly owner: DocumentOwner,
		private readonly around: Surroundings,
	) {}

	load = async (): Promise<void> => {
		const asked = ++this.#asked;
		try {
			const all = await this.api.listDocuments(this.owner);
			if (asked === this.#asked) [this.all, this.failure] = [all, null];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	/** Loads now, and for an effect again with whatever it is given. */
	follow(..._news: unknown[]): void {
		void this.load();
	}

	/** Takes in one after the other; a file that is refused keeps none of the others away. */
	async add(files: File[]): Promise<void> {
		this.coming += files.length;
		for (const file of files) {
			await this.#change(async () => {
				const { name } = await this.api.attachDocument(this.owner, file.name, await base64(file));
				this.around.said(t("documents.attached", { name }));
			});
			this.coming -= 1;
		}
	}

	remove({ id, name }: AttachedDocument): Promise<void> {
		return this.#change(async () => {
			await this.api.removeDocument(id);
			this.around.detached(name, () => this.#change(() => this.api.restoreDocument(id)));
		});
	}

	async #change(change: () => Promise<unknown>): Promise<void> {
		try {
			await change();
		} catch (thrown) {
			return this.around.failed(asApiError(thrown));
		}
		this.around.turned();
		await this.load();
	}
}
