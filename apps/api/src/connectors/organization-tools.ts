import { Injectable } from '@nestjs/common';
import type { LiveConnector } from '#libs/domain/connectors';
import { ConnectorRegistry } from '#libs/domain/gate';
import type { OrgId } from '#libs/domain/kernel';
import type { DeclaredTool } from '#libs/domain/policies';
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
      })),
    );
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
