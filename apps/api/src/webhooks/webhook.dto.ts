import { IsArray, IsIn, IsInt, IsString, Max, Min, ValidateIf } from 'class-validator';
import { OVERLAP_MAX_SECONDS } from '#libs/domain/agents';
import { WEBHOOK_STATUSES, type WebhookStatus } from '#libs/domain/webhooks';
import { IfPresent } from '../http/shape.js';

const OVERLAP_MESSAGE = `must be a whole number of seconds from 0 to ${OVERLAP_MAX_SECONDS} (7 days)`;
const EVENTS_MESSAGE = 'must be an array of event types';

/** POST /v1/webhooks. What the members may hold is the domain's to judge. */
export class CreateWebhookBody {
  @IsString({ message: 'must be a string' })
  url!: string;

  @IsArray({ message: EVENTS_MESSAGE })
  @IsString({ each: true, message: EVENTS_MESSAGE })
  events!: string[];

  @IfPresent()
  @IsString({ message: 'must be a string' })
  description?: string;
}

/** PATCH /v1/webhooks/{id}: what is left out stays; null takes the description away. */
export class UpdateWebhookBody {
  @IfPresent()
  @IsString({ message: 'must be a string' })
  url?: string;

  @IfPresent()
  @IsArray({ message: EVENTS_MESSAGE })
  @IsString({ each: true, message: EVENTS_MESSAGE })
  events?: string[];

  @ValidateIf((_, value) => value !== undefined && value !== null)
  @IsString({ message: 'must be a string or null' })
  description?: string | null;

  @IfPresent()
  @IsIn(WEBHOOK_STATUSES, { message: `must be ${WEBHOOK_STATUSES.join(' or ')}` })
  status?: WebhookStatus;
}

/** POST /v1/webhooks/{id}/roll. */
export class RollWebhookBody {
  @IfPresent()
  @IsInt({ message: OVERLAP_MESSAGE })
  @Min(0, { message: OVERLAP_MESSAGE })
  @Max(OVERLAP_MAX_SECONDS, { message: OVERLAP_MESSAGE })
  overlap_seconds?: number;
}

/** POST /v1/webhooks/{id}/redeliver. */
export class RedeliverBody {
  @IsString({ message: 'must be the id of an event, evt_ and 26 characters' })
  event!: string;
}
