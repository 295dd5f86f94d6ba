import { Component, type ReactNode } from 'react';
import { Button, Empty } from '../kit/kit.tsx';
import { ScreenHead } from './screen.tsx';

interface Props {
  /** The address of the screen: if it changes after an error, the next screen is rendered again. */
  readonly place: string;
  readonly children: ReactNode;
}

/** Catches the error of a screen that fails to render, so that Stop and the navigation stay usable. */
export class ScreenBoundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidUpdate({ place }: Props): void {
    if (this.state.hasFailed && place !== this.props.place) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <>
        <ScreenHead title="This screen cannot be shown" />
        <Empty title="Console error">
          No data was changed. Reload the page. If the error comes back, tell your operator which page you were on.
        </Empty>
        <Button onClick={() => location.reload()}>Reload</Button>
      </>
    );
  }
}
