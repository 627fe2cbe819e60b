import type { ApiKey, ApiKeyLimits, LocalApi, LocalApiSettings, NewApiKey } from "../../src/lib/api/generated";
import { ago } from "./data";

const FREE = 8001;

/** The local API: two keys, and a server that starts unless its port is busy. */
export class MockLocalApi {
	info: LocalApi = { settings: { enabled: true, port: 8000 }, address: "http://127.0.0.1:8000", fixedPort: false, alwaysOn: false, failure: null };
	keys: ApiKey[] = [
		{ id: "k1", name: "SillyTavern", start: "inglenook_t8Qz", limits: { characters: null, rawModels: true, readOnly: false }, created: ago(400), lastUsed: ago(2) },
		{ id: "k2", name: "Hallway tablet", start: "inglenook_Jw0a", limits: { characters: ["c1", "c3"], rawModels: false, readOnly: true }, created: ago(60), lastUsed: null },
	];
	#next = 3;

	/** Another program uses the port. */
	busy(): void {
		this.set({ enabled: true, port: 8000 }, true);
	}

	set(settings: LocalApiSettings, busy = false): void {
		const failure = busy ? { message: `Another program uses port ${settings.port}.`, hint: `Port ${FREE} is free.`, freePort: FREE } : null;
		const address = settings.enabled && !busy ? `http://127.0.0.1:${settings.port}` : null;
		this.info = { ...this.info, settings, address, failure };
	}

	op_local_api = () => this.info;
	op_list_api_keys = () => this.keys;
	op_create_api_key = ({ name, limits }: { name: string; limits: ApiKeyLimits }): NewApiKey => {
		const key: ApiKey = { id: `k${this.#next++}`, name, start: "inglenook_Xb3d", limits, created: ago(0), lastUsed: null };
		this.keys = [...this.keys, key];
		return { key, secret: "inglenook_Xb3dN0qk5vT2mYhRz7LwUe1sGpA9cJfKoDi8tVxWQbE" };
	};
	op_update_api_key = ({ id, name, limits }: { id: string; name: string; limits: ApiKeyLimits }) => {
		this.keys = this.keys.map((key) => (key.id === id ? { ...key, name, limits } : key));
		return this.keys.find((key) => key.id === id);
	};
	op_revoke_api_key = ({ id }: { id: string }) => void (this.keys = this.keys.filter((key) => key.id !== id));
}
