import { asApiError } from "../api/errors";
import type { ApiError, AttachedDocument, DocumentOwner } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import { base64 } from "./base64";
import type { ChatCallbacks } from "./callbacks";

/** File types in the file dialog. The engine rejects files without text, whatever their extension. */
export const TEXTS = "text/plain,text/markdown,text/html,application/epub+zip,application/pdf,.txt,.md,.markdown,.html,.htm,.xhtml,.epub,.pdf";

/** Documents attached to a chat, a character or a lorebook. A rejected change is reported and has no effect. */
export class Documents {
	all = $state.raw<AttachedDocument[] | null>(null);
	/** Error of the last attempt to load the list. */
	failure = $state.raw<ApiError | null>(null);
	/** Number of files that are still uploading. */
	uploading = $state(0);
	#asked = 0;

	constructor(
		private readonly api: Api,
		readonly owner: DocumentOwner,
		private readonly callbacks: Pick<ChatCallbacks, "detached" | "failed" | "announce" | "promptChanged">,
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

	/** Loads the list. An effect can pass its dependencies, to load again when they change. */
	follow(..._news: unknown[]): void {
		void this.load();
	}

	/** Uploads the files one after the other. A rejected file does not stop the others. */
	async add(files: File[]): Promise<void> {
		this.uploading += files.length;
		for (const file of files) {
			await this.#change(async () => {
				const { name } = await this.api.attachDocument(this.owner, file.name, await base64(file));
				this.callbacks.announce(t("documents.attached", { name }));
			});
			this.uploading -= 1;
		}
	}

	remove({ id, name }: AttachedDocument): Promise<void> {
		return this.#change(async () => {
			await this.api.removeDocument(id);
			this.callbacks.detached(name, () => this.#change(() => this.api.restoreDocument(id)));
		});
	}

	async #change(change: () => Promise<unknown>): Promise<void> {
		try {
			await change();
		} catch (thrown) {
			return this.callbacks.failed(asApiError(thrown));
		}
		this.callbacks.promptChanged();
		await this.load();
	}
}
