import { IsString, MaxLength } from 'class-validator';
import { IfPresent } from '../http/shape.js';

/** POST /v1/auth/login */
export class LoginBody {
  @IsString({ message: 'must be a string' })
  email!: string;

  /** Where the Console goes after signing in: a path of its own. */
  @IfPresent()
  @IsString({ message: 'must be a string' })
  @MaxLength(2_048, { message: 'must have at most 2048 characters' })
  next?: string;
}

/** POST /v1/auth/preview */
export class PreviewBody {
  @IsString({ message: 'must be a string' })
  token!: string;
}

/** POST /v1/auth/callback: the token of a link, or the code of the mail with its address. */
export class CallbackBody {
  @IfPresent()
  @IsString({ message: 'must be a string' })
  token?: string;

  @IfPresent()
  @IsString({ message: 'must be a string' })
  email?: string;

  @IfPresent()
  @IsString({ message: 'must be a string' })
  code?: string;
}

/** POST /v1/auth/switch-org */
export class SwitchOrgBody {
  @IsString({ message: 'must be an id such as org_...' })
  org!: string;
}
