import { asApiError } from "../api/errors";
import type { ApiError, ToolServer, ToolServerDraft } from "../api/generated";
import type { Api } from "./api";
import { hasValue, namedRows, type SecretRow } from "./secretRows";

/** The contents of the form that a draft keeps. */
interface Drafted {
	name: string;
	kind: "process" | "http";
	command: string;
	args: string;
	url: string;
	/** Names of variables or headers, without their values. */
	values: string[];
}

/** The form of a tool server. */
export class ToolServerForm {
	name = $state("");
	kind = $state<"process" | "http">("process");
	command = $state("");
	/** One argument per line. */
	args = $state("");
	url = $state("");
	values = $state<SecretRow[]>([]);
	failure = $state.raw<ApiError | null>(null);
	saving = $state(false);
	readonly ready = $derived(this.name.trim() !== "" && (this.kind === "process" ? this.command : this.url).trim() !== "");

	/** `typed` are the rows of a closed form of the same server. Their values are kept in memory only, for Undo. */
	constructor(
		private readonly api: Api,
		readonly server: ToolServer | null,
		private readonly typed: readonly SecretRow[] = [],
	) {
		if (!server) return;
		this.name = server.name;
		this.kind = server.transport.kind;
		if (server.transport.kind === "process") [this.command, this.args] = [server.transport.command, server.transport.args.join("\n")];
		else this.url = server.transport.url;
		this.values = this.#rows(server.values.map(({ name }) => name));
	}

	/** The contents as the text of a draft, without the values of variables and headers. */
	get written(): string {
		const { name, kind, command, args, url } = this;
		return JSON.stringify({ name, kind, command, args, url, values: this.values.map((row) => row.name) } satisfies Drafted);
	}

	/** Shows the text of a draft. Typed values stay. */
	show = (draft: string): void => {
		const { values, ...fields } = JSON.parse(draft) as Drafted;
		Object.assign(this, fields);
		this.values = this.#rows(values);
	};

	/** A value was typed and is not saved. */
	get hasSecrets(): boolean {
		return hasValue(this.values);
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

	#rows(names: readonly string[]): SecretRow[] {
		const stored = this.server?.values.filter((one) => one.stored).map(({ name }) => name) ?? [];
		return namedRows(names, [...this.values, ...this.typed], stored);
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
