import { client, type Client } from "../api/generated";
import type { Transport } from "../api/transport";

/** The engine API for the state classes: typed operations plus the shell's own functions. */
export interface Api extends Client {
	readonly shell: Transport;
}

export function api(shell: Transport): Api {
	return { ...client((operation, args) => shell.call(operation, args)), shell };
}
