import type { BundleVersion } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';
import type { ExportedRange } from './export.events.js';

/** What left the service with all that its deeds stand for: the range that was asked for, the deeds in it, the format. */
export type ExportedEvidenceRange = Omit<ExportedRange, 'kind'> & { readonly format: BundleVersion };

/**
 * The only event of a stream `evidence-<command id>`. It is in the log before the first byte goes out, and does not
 * say that the export was completed.
 */
export type EvidenceExportEvent = {
  type: 'EvidenceExported';
  data: ExportedEvidenceRange & { readonly org: OrgId; readonly at: Timestamp };
};
