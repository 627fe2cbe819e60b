import { client, type Client } from "../api/generated";
import type { Transport } from "../api/transport";

/** The engine as the states see it: typed operations, and what only a shell can do. */
export interface Api extends Client {
	readonly shell: Transport;
}

export function api(shell: Transport): Api {
	return { ...client((operation, args) => shell.call(operation, args)), shell };
}
