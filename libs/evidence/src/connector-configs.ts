import type { DeedBody } from '#libs/crypto';
import type { OpenedMembers } from './given.js';

/** The change that set the configuration of a connector. `isSure`: its data say so; else they are not in the bundle. */
export interface ConfigChange {
  readonly seq: number;
  readonly deed: string;
  readonly isSure: boolean;
}

interface Told extends ConfigChange {
  readonly at: string;
}

/** Which change set the configuration that a connector had at a time. */
export class ConnectorConfigs {
  private readonly changes = new Map<string, Told[]>();

  /** A change with its opened data; changes come in the order of the chain. */
  learn({ seq, id, issued_at: at, admin }: DeedBody, opened: OpenedMembers): void {
    if (admin?.action !== 'connector.created' && admin?.action !== 'connector.updated') return;
    const data = opened.dataOf(seq);
    const isOfConfig = data !== null && Object.hasOwn(data, 'config_hash');
    // A change of a name or of a state leaves the configuration as it is.
    if (data !== null && !isOfConfig) return;
    const told = this.changes.get(admin.target.id) ?? [];
    told.push({ seq, deed: id, isSure: isOfConfig || admin.action === 'connector.created', at });
    this.changes.set(admin.target.id, told);
  }

  /** Null: no change in this bundle says so. */
  at(connector: string, time: string): ConfigChange | null {
    const found = this.changes.get(connector)?.findLast(({ at }) => at <= time);
    return found === undefined ? null : { seq: found.seq, deed: found.deed, isSure: found.isSure };
  }
}
