import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import type { LiveConnector } from '#libs/domain/connectors';
import { ConnectorRegistry, parseToolName } from '#libs/domain/gate';
import type { OrgId } from '#libs/domain/kernel';
import type { DeclaredTool, TriedTool } from '#libs/domain/policies';
import { ConnectorRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';

/** The tools of an organization as its connectors declare them now, for whoever tries a policy on them. */
export class ToolsNow {
  constructor(
    private readonly connectors: readonly LiveConnector[],
    private readonly registry: ConnectorRegistry,
  ) {}

  declared(): readonly DeclaredTool[] {
    return this.connectors.flatMap(({ name, type, config }) =>
      (this.registry.driverOf(type)?.toolsOf(config) ?? []).map((tool) => ({
        name: `${name}.${tool.name}`,
        sideEffect: tool.sideEffect,
        inputSchema: tool.inputSchema,
        namesCost: tool.namesCost ?? false,
      })),
    );
  }

  /** What the tool says of a call with these arguments; null where no connector has it. */
  tried(qualifiedName: string, args: JsonObject): TriedTool | null {
    const name = parseToolName(qualifiedName);
    const connector = this.connectors.find((one) => one.name === name?.connector);
    const driver = connector ? this.registry.driverOf(connector.type) : null;
    const tool = name && connector ? driver?.toolOf(connector.config, name.tool) : null;
    if (!tool || !connector || !driver) return null;
    return { sideEffect: tool.sideEffect, facts: driver.requestFacts(connector.config, tool.name, args) };
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
    await this.waiter.catchUp(['connectors']);
    const rows = await this.readModels.of(org, ConnectorRow).orderBy('name', 'ASC').all();
    return new ToolsNow(
      rows.map(({ folded }) => folded),
      this.registry,
    );
  }
}
