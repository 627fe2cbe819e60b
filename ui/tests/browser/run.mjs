// Runs the browser tests and ends with a summary line.
import { run } from "node:test";
import { fileURLToPath } from "node:url";

const counts = { passed: 0, failed: 0 };
const files = ["scenes.test.mjs", "messages.test.mjs", "branches.test.mjs", "versions.test.mjs", "prompts.test.mjs", "samplers.test.mjs", "books.test.mjs", "memory.test.mjs", "library.test.mjs", "endpoints.test.mjs", "safety.test.mjs", "help.test.mjs", "search.test.mjs", "folders.test.mjs", "groups.test.mjs", "palette.test.mjs", "personas.test.mjs", "gallery.test.mjs", "desktop.test.mjs", "path.test.mjs"].map((name) => fileURLToPath(new URL(name, import.meta.url)), "templateForm.test.mjs", "quickReplies.test.mjs", "selection.test.mjs");
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
stream.on("end", () => {
	console.log(`${counts.passed} passed, ${counts.failed} failed`);
	process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
});
stream.resume();
