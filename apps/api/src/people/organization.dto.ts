import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import { idPattern } from '#libs/crypto';
import type { KeyId } from '#libs/domain/kernel';
import {
  ACTIVE_KEYS_MAX,
  APPROVAL_SECONDS_MAX,
  APPROVAL_SECONDS_MIN,
  APPROVAL_DOORS,
  type ApprovalDoor,
  RETENTION_DAYS_MAX,
  type Role,
  ROLES,
} from '#libs/domain/people';
import { ReasonText } from '../http/reason-text.decorator.js';
import { IfPresent, Nested } from '../http/shape.js';

const DOOR_MESSAGE = `must be one of ${APPROVAL_DOORS.join(', ')}`;
const SECONDS_MESSAGE = `must be a whole number of seconds from ${APPROVAL_SECONDS_MIN} to ${APPROVAL_SECONDS_MAX}`;
const KEYS_MESSAGE = `must be at most ${ACTIVE_KEYS_MAX} ids of admin keys, key_ and 26 characters each`;
const DAYS_MESSAGE = `must be a whole number of days from 1 to ${RETENTION_DAYS_MAX}, or null for the default`;

class ApprovalsBody {
  @IfPresent()
  @IsIn(APPROVAL_DOORS, { message: DOOR_MESSAGE })
  mail?: ApprovalDoor;

  @IfPresent()
  @IsIn(APPROVAL_DOORS, { message: DOOR_MESSAGE })
  chat?: ApprovalDoor;

  @IfPresent()
  @IsInt({ message: SECONDS_MESSAGE })
  @Min(APPROVAL_SECONDS_MIN, { message: SECONDS_MESSAGE })
  @Max(APPROVAL_SECONDS_MAX, { message: SECONDS_MESSAGE })
  expires_in_s?: number;

  @IfPresent()
  @IsBoolean({ message: 'must be true or false' })
  signed?: boolean;
}

/** PATCH /v1/org: what is left out stays. */
export class UpdateOrganizationBody {
  @IfPresent()
  @IsString({ message: 'must be a string' })
  name?: string;

  @IfPresent()
  @IsString({ message: 'must be a string' })
  timezone?: string;

  @IfPresent()
  @IsString({ message: 'must be a date that GET /v1/version lists' })
  pinned_version?: string;

  @ValidateIf((_, value) => value !== undefined && value !== null)
  @IsInt({ message: DAYS_MESSAGE })
  @Min(1, { message: DAYS_MESSAGE })
  @Max(RETENTION_DAYS_MAX, { message: DAYS_MESSAGE })
  retention_days?: number | null;

  @IfPresent()
  @IsObject({ message: 'must be an object' })
  @Nested(() => ApprovalsBody)
  approvals?: ApprovalsBody;
}

/** POST /v1/org/stop and /start */
export class SwitchOrganizationBody {
  @ReasonText()
  reason?: string;
}

/** POST /v1/org/members */
export class InviteMemberBody {
  @IsString({ message: 'must be a string' })
  email!: string;

  @IsIn(ROLES, { message: `must be one of ${ROLES.join(', ')}` })
  role!: Role;
}

/** Written as they were shown. That they are admin keys of the person is for the decider to say. */
const KeysToKeep = (): PropertyDecorator => {
  const rules = [
    IfPresent(),
    IsArray({ message: KEYS_MESSAGE }),
    ArrayMaxSize(ACTIVE_KEYS_MAX, { message: KEYS_MESSAGE }),
    Matches(idPattern('key'), { each: true, message: KEYS_MESSAGE }),
  ];
  return (target, property) => {
    for (const rule of rules) rule(target, property);
  };
};

/** DELETE /v1/org/members/{id} */
export class RemoveMemberQuery {
  @KeysToKeep()
  'keep_keys[]'?: KeyId[];
}

/** PATCH /v1/org/members/{id}: what is left out stays. */
export class ChangeMemberBody {
  /** With a `role`. */
  @KeysToKeep()
  keep_keys?: KeyId[];

  @IfPresent()
  @IsIn(ROLES, { message: `must be one of ${ROLES.join(', ')}` })
  role?: Role;

  @IfPresent()
  @IsArray({ message: 'must be an array of strings' })
  @IsString({ each: true, message: 'must be an array of strings' })
  references?: string[];

  @IfPresent()
  @IsArray({ message: 'must be an array of strings' })
  @IsString({ each: true, message: 'must be an array of strings' })
  chat_accounts?: string[];
}
