import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts a scripted hub that serves `file` as `name` in `repo`. `ends` says how its connections end; see `scripted_hub.rs`. */
export async function scriptedHub(repo, name, file, ...ends) {
	const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
	const hub = spawn(join(target, "debug", "scripted-hub"), [repo, name, file, ...ends], { stdio: ["pipe", "pipe", "inherit"] });
	const address = await new Promise((resolve, reject) => {
		hub.stdout.once("data", (text) => resolve(String(text).trim()));
		hub.on("error", reject);
		hub.on("exit", (code) => reject(new Error(`the scripted hub ended with ${code}`)));
	});
	return { address, stop: () => hub.stdin.end() };
}

/** The built `nook`, or that of the variable. */
export function nookProgram() {
	const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
	return process.env.INGLENOOK_NOOK ?? join(target, "debug", "nook");
}

/** Starts the real engine: `nook serve --ui`. Without `data`, in an empty data folder, which is deleted at the end. */
export async function serve({ data: kept, variables = {} } = {}) {
	const data = kept ?? (await mkdtemp(join(tmpdir(), "inglenook-ui-")));
	// Long enough to be seen while it streams.
	const env = { INGLENOOK_MAX_TOKENS: "120", ...process.env, ...variables, INGLENOOK_UI: join(root, "ui", "dist") };
	const nook = spawn(nookProgram(), ["serve", "--ui", "--port", "0", "--data-dir", data, "--json"], { env, stdio: ["ignore", "pipe", "pipe"] });
	let complaints = "";
	nook.stderr.on("data", (text) => (complaints += text));
	const { url } = await new Promise((resolve, reject) => {
		let out = "";
		nook.stdout.on("data", (text) => {
			out += text;
			if (out.includes("\n")) resolve(JSON.parse(out.slice(0, out.indexOf("\n"))));
		});
		nook.on("error", reject);
		nook.on("exit", (code) => reject(new Error(`nook ended with ${code}: ${complaints}`)));
	});
	const end = async (signal) => {
		const ended = new Promise((resolve) => nook.on("exit", resolve));
		nook.kill(signal);
		await ended;
		if (!kept) await rm(data, { recursive: true, force: true });
	};
	return { url, stop: () => end("SIGINT"), kill: () => end("SIGKILL") };
}
