// Runs the browser tests and ends with a summary line.
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { buildScripted } from "./scripted.mjs";

const counts = { passed: 0, failed: 0 };
const folder = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".test.mjs")).sort().map((name) => join(folder, name));
// One build for all files.
process.env.INGLENOOK_SCRIPTED_UI = await mkdtemp(join(tmpdir(), "inglenook-mock-"));
await buildScripted(process.env.INGLENOOK_SCRIPTED_UI);
// Sequential, because two browsers and a model would slow each other down.
const stream = run({ files, concurrency: 1, timeout: 900_000 });

stream.on("test:pass", ({ name, details }) => {
	counts.passed += 1;
	console.log(`ok    ${name} (${Math.round(details.duration_ms)} ms)`);
});
stream.on("test:fail", ({ name, details }) => {
	counts.failed += 1;
	const cause = details.error.cause ?? details.error;
	console.log(`FAIL  ${name}\n      ${String(cause.stack ?? cause).split("\n").slice(0, 14).join("\n      ")}`);
});
stream.on("test:stderr", ({ message }) => process.stderr.write(message));
stream.on("end", async () => {
	await rm(process.env.INGLENOOK_SCRIPTED_UI, { recursive: true });
	console.log(`${counts.passed} passed, ${counts.failed} failed`);
	process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
});
stream.resume();
