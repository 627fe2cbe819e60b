import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { asApiError } from "../api/errors";
import type { AddedToolServers, ApiError, ServerTool, ServerToolGrant, ToolServer, ToolServerTest } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** The servers that offer tools, and the results of their tests. */
export class ToolServers {
	/** `null` until they are loaded. */
	all = $state.raw<ToolServer[] | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** Ids of servers that are being started or tested. */
	readonly busy = new SvelteSet<string>();
	/** The last test of each server, by id. */
	readonly tests = new SvelteMap<string, ToolServerTest | { failure: ApiError }>();

	constructor(private readonly api: Api) {}

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
