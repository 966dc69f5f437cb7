import { createRoot } from 'react-dom/client';
import { applyTheme } from '../format/preferences';
import { Console } from './app';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/shell.css';
import '../styles/parts.css';
import '../styles/developers.css';
import './console.css';

applyTheme();
createRoot(document.getElementById('root')!).render(<Console />);
