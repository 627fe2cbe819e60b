import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { asApiError } from "../api/errors";
import type { AddedToolServers, ApiError, ChatId, ServerResource, ServerTool, ServerToolGrant, ToolServer, ToolServerTest } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";
import { base64 } from "./base64";

export const resourceKey = (server: ToolServer, uri: string): string => `${server.id} ${uri}`;

/** The name of a document with the text of a resource. Its extension decides how the engine reads the text. */
export function fileName({ name, uri, mimeType }: ServerResource): string {
	const extension = mimeType === "text/html" ? ".html" : mimeType === "text/markdown" ? ".md" : ".txt";
	const plain = (name || uri).split(/[/\\]/).findLast((part) => part.trim() !== "") ?? "resource";
	return /\.(txt|md|html?)$/i.test(plain) ? plain : plain + extension;
}

/** The servers that offer tools, and the results of their tests. */
export class ToolServers {
	/** `null` until they are loaded. */
	all = $state.raw<ToolServer[] | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** Ids of servers that are being started or tested. */
	readonly busy = new SvelteSet<string>();
	/** The last test of each server, by id. */
	readonly tests = new SvelteMap<string, ToolServerTest | { failure: ApiError }>();

	/** Texts of open resources, by server and address. */
	readonly texts = new SvelteMap<string, string>();

	constructor(
		private readonly api: Api,
		private readonly callbacks: { attached: (name: string) => void; failed: (error: ApiError) => void },
	) {}

	load = (): Promise<boolean> => attempt(this, async () => void (this.all = await this.api.listToolServers()));

	/** Loads the list again if it is on screen. */
	changed(): Promise<unknown> {
		return this.all === null ? Promise.resolve() : this.load();
	}

	switch = (server: ToolServer, on: boolean): Promise<void> => this.#work(server.id, async () => this.#replace(await this.api.switchToolServer(server.id, on)));

	test = (server: ToolServer): Promise<void> =>
		this.#work(server.id, async () => {
			try {
				const test = await this.api.testToolServer(server.id);
				this.tests.set(server.id, test);
				this.#replace(test.server);
			} catch (thrown) {
				this.tests.set(server.id, { failure: asApiError(thrown) });
			}
		});

	grant = (server: ToolServer, tool: ServerTool, grant: ServerToolGrant): Promise<boolean> => attempt(this, async () => this.#replace(await this.api.setToolGrant(server.id, tool.name, null, grant)));

	remove = (server: ToolServer): Promise<boolean> =>
		attempt(this, async () => {
			await this.api.deleteToolServer(server.id);
			this.tests.delete(server.id);
			this.all = await this.api.listToolServers();
		});

	/** Shows or hides the text of a resource. */
	toggleResource = async (server: ToolServer, { uri }: ServerResource): Promise<void> => {
		const key = resourceKey(server, uri);
		if (!this.texts.delete(key)) await this.#read(server, uri, (text) => void this.texts.set(key, text));
	};

	/** Attaches the text of a resource to a chat, as a document. */
	attachResource = (server: ToolServer, resource: ServerResource, chat: ChatId): Promise<void> =>
		this.#read(server, resource.uri, async (text) => {
			const file = new File([text], fileName(resource), { type: "text/plain" });
			const { name } = await this.api.attachDocument({ of: "chat", id: chat }, file.name, await base64(file));
			this.callbacks.attached(name);
		});

	async #read(server: ToolServer, uri: string, use: (text: string) => unknown): Promise<void> {
		this.busy.add(server.id);
		try {
			await use(await this.api.readServerResource(server.id, uri));
		} catch (thrown) {
			this.callbacks.failed(asApiError(thrown));
		}
		this.busy.delete(server.id);
	}

	/** Adds the servers of a text. Throws the `ApiError` of a text without servers. */
	async paste(text: string): Promise<AddedToolServers> {
		const report = await this.api.addToolServers(text);
		await this.load();
		return report;
	}

	async #work(id: string, action: () => Promise<void>): Promise<void> {
		this.busy.add(id);
		await attempt(this, action);
		this.busy.delete(id);
	}

	#replace(server: ToolServer): void {
		this.all = this.all?.map((known) => (known.id === server.id ? server : known)) ?? null;
	}
}
