import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import type { LiveConnector } from '#libs/domain/connectors';
import { ConnectorRegistry, parseToolName, sideEffectOfCall } from '#libs/domain/gate';
import type { OrgId } from '#libs/domain/kernel';
import type { DeclaredTool, TriedTool } from '#libs/domain/policies';
import type { OwnedTool } from './served-words.js';
import { ConnectorRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';

export interface OfferedTool {
  readonly connector: string;
  readonly name: string;
  readonly described: { readonly description: string | null; readonly input_schema: JsonObject };
  readonly isDisabled: boolean;
  /** The same as the driver has it. */
  readonly owned: OwnedTool;
}

/** The tools of an organization as its connectors declare them now, for whoever tries a policy on them. */
export class ToolsNow {
  constructor(
    private readonly connectors: readonly LiveConnector[],
    private readonly registry: ConnectorRegistry,
  ) {}

  declared(): readonly DeclaredTool[] {
    return this.connectors.flatMap((connector) =>
      (this.registry.driverOf(connector.type)?.toolsOf(connector) ?? []).map((tool) => ({
        name: `${connector.name}.${tool.name}`,
        sideEffect: tool.sideEffect,
        ...(tool.callsMayBe === undefined ? {} : { callsMayBe: tool.callsMayBe }),
        inputSchema: tool.inputSchema,
        namesCost: tool.namesCost ?? false,
      })),
    );
  }

  /** Whether a connector has that name, active or disabled. */
  has(connector: string): boolean {
    return this.connectors.some(({ name }) => name === connector);
  }

  connectorNames(): readonly string[] {
    return this.connectors.map(({ name }) => name);
  }

  /** Every tool that is known of any connector, also one that is held, gone or of a disabled connector. */
  known(): readonly { readonly connector: string; readonly tool: string }[] {
    return this.connectors.flatMap((connector) => {
      const served = this.registry.driverOf(connector.type)?.toolsOf(connector) ?? [];
      const names = new Set([...served, ...(connector.discovered?.tools ?? [])].map(({ name }) => name));
      return [...names].map((tool) => ({ connector: connector.name, tool }));
    });
  }

  /** The tools of one connector as an agent is told of them, of a disabled one too. */
  offeredBy(connector: string): readonly OfferedTool[] {
    const found = this.connectors.find(({ name }) => name === connector);
    if (found === undefined) return [];
    return (this.registry.driverOf(found.type)?.toolsOf(found) ?? []).map((tool) => ({
      connector,
      name: tool.name,
      described: { description: tool.description, input_schema: tool.inputSchema },
      isDisabled: found.status !== 'active',
      owned: { connector: found, tool },
    }));
  }

  /** What the tool says of a call with these arguments; null where no connector has it. */
  tried(qualifiedName: string, args: JsonObject): TriedTool | null {
    const name = parseToolName(qualifiedName);
    const connector = this.connectors.find((one) => one.name === name?.connector);
    const driver = connector ? this.registry.driverOf(connector.type) : null;
    const tool = name && connector ? driver?.toolOf(connector, name.tool) : null;
    if (!tool || !connector || !driver) return null;
    const sideEffect = sideEffectOfCall(driver, connector, tool, args);
    return { sideEffect, facts: driver.requestFacts(connector, tool.name, args) };
  }

  /** The same with one connector as it is after a change. */
  with(changed: LiveConnector): ToolsNow {
    const others = this.connectors.filter(({ name }) => name !== changed.name);
    return new ToolsNow([...others, changed], this.registry);
  }
}

@Injectable()
export class OrganizationTools {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
    private readonly registry: ConnectorRegistry,
  ) {}

  async of(org: OrgId): Promise<ToolsNow> {
    return (await this.read(org)).tools;
  }

  /** Besides, how many events they do not show yet. */
  async read(org: OrgId): Promise<{ readonly tools: ToolsNow; readonly lagEvents: number }> {
    const { lagEvents } = await this.waiter.catchUp(['connectors']);
    const rows = await this.readModels.of(org, ConnectorRow).orderBy('name', 'ASC').all();
    const tools = new ToolsNow(
      rows.map(({ folded }) => folded),
      this.registry,
    );
    return { tools, lagEvents };
  }
}
