import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts the real engine with an empty data folder: `nook serve --ui`. */
export async function serve() {
	const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
	const program = process.env.INGLENOOK_NOOK ?? join(target, "debug", "nook");
	const data = await mkdtemp(join(tmpdir(), "inglenook-ui-"));
	const env = { ...process.env, INGLENOOK_UI: join(root, "ui", "dist") };
	const nook = spawn(program, ["serve", "--ui", "--port", "0", "--data-dir", data, "--json"], { env, stdio: ["ignore", "pipe", "pipe"] });
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
	const stop = async () => {
		const ended = new Promise((resolve) => nook.on("exit", resolve));
		nook.kill("SIGINT");
		await ended;
		await rm(data, { recursive: true, force: true });
	};
	return { url, stop };
}
