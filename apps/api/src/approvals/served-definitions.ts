import { Injectable } from '@nestjs/common';
import type { Digest, JsonObject } from '#libs/crypto';
import { ToolDefinitions } from '#libs/domain/connectors';
import type { ApprovalReview } from '#libs/domain/gate';
import type { ConnectorId } from '#libs/domain/kernel';

/** What a server says of its tool, as far as it is stored. */
export interface ShownDefinition {
  /** Null where nobody has accepted what the server says. */
  readonly digest: Digest | null;
  /** Whether the server says something else by now, which nobody has accepted. */
  readonly held: boolean;
  /** Whether the definition is there to be read. */
  readonly stored: boolean;
  readonly title: string | null;
  readonly description: string | null;
}

/** The words of servers for who decides about a call. They are the servers' own: nobody vouches for them. */
@Injectable()
export class ServedDefinitions {
  constructor(private readonly definitions: ToolDefinitions) {}

  /** Null for a tool that a config describes; then nothing is read. */
  async of({ definition, action }: ApprovalReview): Promise<ShownDefinition | null> {
    const { connector } = action.submission;
    if (definition === null || connector === null) return null;
    const { digest, isHeld: held } = definition;
    const body = digest === null ? null : await this.bodyOf(connector, digest);
    if (body === null) return { digest, held, stored: false, title: null, description: null };
    const { title, description } = JSON.parse(body) as JsonObject;
    return { digest, held, stored: true, title: textOf(title), description: textOf(description) };
  }

  private async bodyOf(connector: ConnectorId, digest: Digest): Promise<string | null> {
    return (await this.definitions.get(connector, [digest])).get(digest) ?? null;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
