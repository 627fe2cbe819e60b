import { asApiError } from "../api/errors";
import type { ApiError, ToolServer, ToolServerDraft } from "../api/generated";
import type { Api } from "./api";

/** A variable or a header in the form. A stored value is never shown again. */
export interface ValueRow {
	name: string;
	value: string;
	/** A value is stored. It is kept while the field is empty. */
	stored: boolean;
}

/** The form of a tool server. */
export class ToolServerForm {
	name = $state("");
	kind = $state<"process" | "http">("process");
	command = $state("");
	/** One argument per line. */
	args = $state("");
	url = $state("");
	values = $state<ValueRow[]>([]);
	failure = $state.raw<ApiError | null>(null);
	saving = $state(false);
	readonly ready = $derived(this.name.trim() !== "" && (this.kind === "process" ? this.command : this.url).trim() !== "");

	constructor(
		private readonly api: Api,
		readonly server: ToolServer | null,
	) {
		if (!server) return;
		this.name = server.name;
		this.kind = server.transport.kind;
		if (server.transport.kind === "process") [this.command, this.args] = [server.transport.command, server.transport.args.join("\n")];
		else this.url = server.transport.url;
		this.values = server.values.map(({ name, stored }) => ({ name, value: "", stored }));
	}

	addValue = (): void => void this.values.push({ name: "", value: "", stored: false });

	removeValue(index: number): void {
		this.values.splice(index, 1);
	}

	/** Returns `null` if saving failed. `failure` then has the reason. */
	async save(): Promise<ToolServer | null> {
		this.failure = null;
		this.saving = true;
		try {
			return await this.api.saveToolServer(this.#draft());
		} catch (thrown) {
			this.failure = asApiError(thrown);
			return null;
		} finally {
			this.saving = false;
		}
	}

	#draft(): ToolServerDraft {
		// A program with an empty argument is rare, and an empty last line is common.
		const args = this.args.split("\n").map((line) => line.trim()).filter(Boolean);
		return {
			id: this.server?.id ?? null,
			name: this.name.trim(),
			transport: this.kind === "process" ? { kind: "process", command: this.command.trim(), args } : { kind: "http", url: this.url.trim() },
			values: $state
				.snapshot(this.values)
				.filter(({ name, value }) => name.trim() !== "" || value !== "")
				.map(({ name, value, stored }) => ({ name: name.trim(), value: stored && value === "" ? null : value })),
		};
	}
}
