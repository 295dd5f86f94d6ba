import type { ConnectorType, ListedConnector, ListedConnectors } from '#libs/domain/connectors';
import type { DataSource } from 'typeorm';
import { translateRowError } from '../row-errors.js';
import { ConnectorRow } from './connector.row.js';

const PAGE_ROWS = 200;

/**
 * The connectors of all organizations, for what a process does by itself. Whoever answers a request of one organization
 * gets them from `ReadModels`, and nothing from here.
 */
export class ConnectorReads implements ListedConnectors {
  constructor(private readonly source: DataSource) {}

  /** @throws {StoreUnavailable} the database did not answer */
  async *active(types: readonly ConnectorType[]): AsyncIterable<readonly ListedConnector[]> {
    let last = '';
    for (;;) {
      const rows = await this.page(types, last);
      if (rows.length > 0) yield rows.map(({ org, name }) => ({ org, name }));
      last = rows.at(-1)?.id ?? last;
      if (rows.length < PAGE_ROWS) return;
    }
  }

  private async page(types: readonly ConnectorType[], after: string): Promise<readonly ConnectorRow[]> {
    try {
      return await this.source.manager
        .createQueryBuilder(ConnectorRow, 'row')
        .select(['row.id', 'row.org', 'row.name'])
        .where(`row.id > :after AND row.status = 'active' AND row.type = ANY(:types)`, { after, types })
        .orderBy('row.id', 'ASC')
        .limit(PAGE_ROWS)
        .getMany();
    } catch (error) {
      throw translateRowError(error);
    }
  }
}
