import type { AddedToolServers, ApiError, Event, ServerTool, ServerToolGrant, ToolServer, ToolServerDraft, ToolServerTest } from "../../src/lib/api/generated";

const tool = (server: string, name: string, description: string, args: string[], rest: Partial<ServerTool> = {}): ServerTool => ({ name, title: null, description, modelName: `${server}__${name}`, arguments: args, readsOnly: false, grant: "ask", ...rest });

const SERVERS: ToolServer[] = [
	{
		id: "s1", name: "Notes folder", enabled: true, transport: { kind: "process", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/sam/Notes"] }, values: [], valuesAreForSession: false, state: { kind: "running" },
		tools: [
			tool("Notes_folder", "read_text_file", "Read the complete contents of a file as text. Handles various text encodings and provides detailed error messages if the file cannot be read.", ["path", "tail", "head"], { title: "Read Text File", readsOnly: true, grant: "always" }),
			tool("Notes_folder", "write_file", "Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning.", ["path", "content"], { title: "Write File", grant: "never" }),
			tool("Notes_folder", "search_files", "Recursively search for files and directories matching a pattern.", ["path", "pattern", "excludePatterns"], { title: "Search Files", readsOnly: true }),
		],
		leftOut: [],
	},
	{ id: "s2", name: "Time", enabled: true, transport: { kind: "process", command: "uvx", args: ["mcp-server-time"] }, values: [], valuesAreForSession: false, state: { kind: "failed", message: "The program uvx was not found.", hint: "Install the program that runs the server, or enter its full path. Servers from npm need Node.js." }, tools: [tool("Time", "get_current_time", "Get current time in a specific timezone", ["timezone"])], leftOut: [{ name: "convert_time", reason: "its arguments are not an object" }] },
	{ id: "s3", name: "Search", enabled: false, transport: { kind: "http", url: "https://search.example.org/mcp" }, values: [{ name: "Authorization", stored: false }], valuesAreForSession: false, state: { kind: "off" }, tools: [], leftOut: [] },
];

const RESOURCES = [
	{ uri: "file:///home/sam/Notes/lamp.md", name: "lamp.md", description: "", mimeType: "text/markdown" },
	{ uri: "file:///home/sam/Notes/ferry.md", name: "ferry.md", description: "", mimeType: "text/markdown" },
];

/** The tool servers of the scripted engine. */
export class MockToolServers {
	all = structuredClone(SERVERS);
	#next = 1;

	constructor(private readonly emit: (event: Event) => void) {}

	#find(id: string): ToolServer {
		const found = this.all.find((server) => server.id === id);
		if (!found) throw { kind: "notFound", message: "This tool server no longer exists." } satisfies ApiError;
		return found;
	}

	op_list_tool_servers = () => this.all;

	op_save_tool_server = ({ draft }: { draft: ToolServerDraft }): ToolServer => {
		if (this.all.some(({ id, name }) => name === draft.name && id !== draft.id)) throw { kind: "badInput", message: `There is already a tool server named ${draft.name}.`, hint: "Choose another name." } satisfies ApiError;
		const known = this.all.find(({ id }) => id === draft.id);
		const values = draft.values.map(({ name, value }) => ({ name, stored: value !== "" }));
		const saved: ToolServer = { enabled: false, valuesAreForSession: false, state: { kind: "off" }, tools: [], leftOut: [], ...known, id: known?.id ?? `new${this.#next++}`, name: draft.name, transport: draft.transport, values };
		this.all = [...this.all.filter((one) => one !== known), saved].sort((one, other) => one.name.localeCompare(other.name));
		this.emit({ event: "changed", what: "toolServers", id: saved.id });
		return saved;
	};

	op_add_tool_servers = ({ text }: { text: string }): AddedToolServers => {
		if (!text.includes("{")) throw { kind: "badInput", message: "The text is not valid JSON (line 1): expected value.", hint: 'Paste the part with "mcpServers" from the server\'s documentation or from another app\'s settings.' } satisfies ApiError;
		const names = [...text.matchAll(/"([\w-]+)":\s*\{\s*"command"/g)].map(([, name = ""]) => name);
		const added = names.map((name) => this.op_save_tool_server({ draft: { id: null, name, transport: { kind: "process", command: "npx", args: ["-y", name] }, values: [] } }));
		return { added, skipped: text.includes("sse") ? [{ name: "old", reason: "It uses the older SSE transport, which is not supported." }] : [] };
	};

	op_delete_tool_server = ({ id }: { id: string }): void => {
		this.all = this.all.filter((server) => server.id !== id);
	};

	op_switch_tool_server = ({ id, on }: { id: string; on: boolean }): ToolServer => {
		const server = this.#find(id);
		if (on && server.values.some(({ stored }) => !stored)) throw { kind: "badInput", message: `The value of Authorization is missing for ${server.name}.`, hint: "Enter it in the settings of the tool server." } satisfies ApiError;
		return Object.assign(server, { enabled: on, state: { kind: on ? "running" : "off" } });
	};

	op_test_tool_server = ({ id }: { id: string }): ToolServerTest => {
		const server = this.#find(id);
		if (id === "s2") throw { kind: "toolServer", message: "The program uvx was not found.", hint: "Install the program that runs the server, or enter its full path. Servers from npm need Node.js." } satisfies ApiError;
		return { name: "secure-filesystem-server", version: "0.2.0", tookMs: 840, server, resources: RESOURCES };
	};

	op_read_server_resource = ({ uri }: { id: string; uri: string }): string => `# ${uri}\n\nThe ferry leaves at nine.`;

	op_set_tool_grant = ({ server: id, tool, grant }: { server: string; tool: string; grant: ServerToolGrant }): ToolServer => {
		const server = this.#find(id);
		for (const one of server.tools) if (one.name === tool) one.grant = grant;
		return server;
	};
}
