import { expect } from 'vitest';
import { digestOfJson, type JsonObject } from '#libs/crypto';
import { MODERN_ANSWERS, type ScriptedServer, startScriptedServer } from '../support/mcp-server.js';
import type { ConsoleScene } from './console-scene.js';

/** A connector whose server names the tools: an MCP server that lists what a test says. */
export class ServedConnector {
  private constructor(
    private readonly scene: ConsoleScene,
    readonly name: string,
    readonly id: string,
    readonly server: ScriptedServer,
  ) {}

  static async make(
    scene: ConsoleScene,
    name: string,
    tools: readonly JsonObject[],
    config: JsonObject = {},
  ): Promise<ServedConnector> {
    const server = await startScriptedServer({ ...MODERN_ANSWERS, 'tools/list': () => ({ tools: [...tools] }) });
    const url = server.url.replace('mcp.example', '127.0.0.1');
    const whole = { url, auth: { kind: 'none' }, ...config };
    const made = await scene.make('POST', '/v1/connectors', { type: 'mcp_http', name, config: whole });
    const connector = new ServedConnector(scene, name, made['id'] as string, server);
    await connector.serves(...tools);
    return connector;
  }

  get page(): string {
    return this.scene.url(`/app/connectors/${this.id}`);
  }

  /** What the server says from here on, and the log knows. */
  async serves(...tools: readonly JsonObject[]): Promise<void> {
    this.says(...tools);
    await this.scene.make('POST', `/v1/connectors/${this.name}/tools/refresh`);
  }

  /** What the server says from here on, whether anybody has asked it or not. */
  says(...tools: readonly JsonObject[]): void {
    this.server.set({ 'tools/list': () => ({ tools: [...tools] }) });
  }

  async accept(tool: JsonObject): Promise<void> {
    const tools = [{ name: tool['name'], definition_digest: digestOfJson(tool) }];
    await this.scene.make('POST', `/v1/connectors/${this.name}/tools/accept`, { tools });
  }

  async statuses(): Promise<Readonly<Record<string, unknown>>> {
    const { data } = await this.scene.make('GET', `/v1/connectors/${this.name}/tools`);
    expect(Array.isArray(data)).toBe(true);
    return Object.fromEntries((data as JsonObject[]).map((tool) => [tool['name'], tool['status']]));
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
