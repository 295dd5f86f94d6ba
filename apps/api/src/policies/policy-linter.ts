import { Injectable } from '@nestjs/common';
import type { LiveConnector } from '#libs/domain/connectors';
import { FoldedStreams, streamRef, type OrgId } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import {
  checkToolsInTurns,
  compilePolicyInTurns,
  inOrderOfText,
  loadPolicy,
  versionNamed,
  type PolicyDiagnostic,
} from '#libs/domain/policies';
import { OrganizationTools, type ToolsNow } from '../connectors/organization-tools.js';

export interface LintedPolicy {
  /** Whether it can be saved. */
  readonly isValid: boolean;
  readonly diagnostics: readonly PolicyDiagnostic[];
}

/** What there is to say of a source: by the language, and by the tools that the organization has now. */
@Injectable()
export class PolicyLinter {
  constructor(
    private readonly tools: OrganizationTools,
    private readonly streams: FoldedStreams,
  ) {}

  /** @param as `stored`: a version that is kept by the rules of its day */
  async lint(org: OrgId, source: string, as: 'new' | 'stored' = 'new'): Promise<LintedPolicy> {
    const result = await compilePolicyInTurns(source, as);
    if (!result.ok) return { isValid: false, diagnostics: result.diagnostics };
    return { isValid: true, diagnostics: await this.withTools(source, result.warnings, await this.tools.of(org)) };
  }

  /** The same of a source that is compiled already. */
  async withTools(
    source: string,
    warnings: readonly PolicyDiagnostic[],
    tools: ToolsNow,
  ): Promise<readonly PolicyDiagnostic[]> {
    return inOrderOfText(warnings, await checkToolsInTurns(source, tools.declared()));
  }

  /** What the tools say of the enforced policy since a connector is as it is, and did not say before. */
  async causedBy(org: OrgId, before: LiveConnector, after: LiveConnector): Promise<readonly PolicyDiagnostic[]> {
    if (before.configHash === after.configHash) return [];
    const source = await this.enforcedSource(org);
    if (source === null) return [];
    const tools = await this.tools.of(org);
    const known = new Set((await checkToolsInTurns(source, tools.with(before).declared())).map(keyOf));
    const found = await checkToolsInTurns(source, tools.with(after).declared());
    return found.filter((diagnostic) => !known.has(keyOf(diagnostic)));
  }

  private async enforcedSource(org: OrgId): Promise<string | null> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none' || state.enforced === null) return null;
    const { policy, versionId } = state.enforced;
    return versionNamed(await loadPolicy(this.streams, org, policy), versionId).source;
  }
}

const keyOf = ({ code, line, column, message }: PolicyDiagnostic): string => `${code} ${line} ${column} ${message}`;
