; The Windows installer: for one user, without administrator rights, in the layout of an installation
; that updates itself (see src-tauri/crates/installation). `cargo xtask bundle --target windows` gives
; it VERSION, ICON, OUTPUT and STAGE, the folder with the launchers, models and versions\VERSION, and
; defines MODELS if there are models.
;
; Switches: /S silent, /D=folder, and for the uninstaller /DELETEDATA.

Target amd64-unicode
ManifestDPIAware true
ManifestLongPathAware true
RequestExecutionLevel user
SetCompressor /SOLID lzma
Name "Inglenook"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\Inglenook"
InstallDirRegKey HKCU "Software\Inglenook" "Folder"

!include "MUI2.nsh"
!include "LogicLib.nsh"
!include "FileFunc.nsh"

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Inglenook"
!define CLASSES "Software\Classes"
; The data folder of `installation::data_dir`.
!define DATA "$LOCALAPPDATA\Inglenook"
!define WEBVIEW_PAGE "https://developer.microsoft.com/microsoft-edge/webview2/"
!define WEBVIEW_CLIENT "Microsoft\EdgeUpdate\Clients\{F3017226-FE2A-4295-8BDF-00C3A9A7E4C5}"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\inglenook.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"

LangString CARD ${LANG_ENGLISH} "Character card"
LangString CARD ${LANG_GERMAN} "Charakterkarte"
LangString PROGRAM ${LANG_ENGLISH} "Program"
LangString PROGRAM ${LANG_GERMAN} "Programm"
LangString DELETE_DATA ${LANG_ENGLISH} "Delete all chats, characters and models"
LangString DELETE_DATA ${LANG_GERMAN} "Alle Chats, Charaktere und Modelle löschen"
LangString NO_WEBVIEW ${LANG_ENGLISH} "Inglenook is installed. Its window needs Microsoft's WebView2, which this computer does not have.$\n$\nOpen Microsoft's page to get it?$\n${WEBVIEW_PAGE}"
LangString NO_WEBVIEW ${LANG_GERMAN} "Inglenook ist installiert. Das Fenster braucht Microsofts WebView2, das auf diesem Computer fehlt.$\n$\nMicrosofts Seite dazu öffnen?$\n${WEBVIEW_PAGE}"

Section "Inglenook"
	; The version that runs now stays as the previous one. Its files may be open.
	ClearErrors
	FileOpen $0 "$INSTDIR\current" r
	${IfNot} ${Errors}
		FileRead $0 $1
		FileClose $0
	${EndIf}
	SetOutPath "$INSTDIR"
	SetOverwrite try
	File "${STAGE}\inglenook.exe"
	File "${STAGE}\nook.exe"
	SetOverwrite on
!ifdef MODELS
	File /r "${STAGE}\models"
!endif
	File /r "${STAGE}\versions"
	${If} $1 != ""
	${AndIf} $1 != "${VERSION}"
	${AndIf} $1 != "${VERSION}$\n"
		FileOpen $0 "$INSTDIR\previous" w
		FileWrite $0 "$1"
		FileClose $0
	${EndIf}
	; Written last: until here the version before is the current one.
	FileOpen $0 "$INSTDIR\current.new" w
	FileWrite $0 "${VERSION}$\n"
	FileClose $0
	Delete "$INSTDIR\current"
	Rename "$INSTDIR\current.new" "$INSTDIR\current"
	WriteUninstaller "$INSTDIR\uninstall.exe"
	Call RegisterProgram
	Call RegisterFiles
	CreateShortcut "$SMPROGRAMS\Inglenook.lnk" "$INSTDIR\inglenook.exe"
	Call LookForWebView
SectionEnd

Function RegisterProgram
	WriteRegStr HKCU "Software\Inglenook" "Folder" "$INSTDIR"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Inglenook"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\inglenook.exe"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "The Inglenook authors"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
	WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
	WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
	WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
	WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
	${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
	WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" $0
FunctionEnd

; Cards with endings of their own open with Inglenook. PNG pictures only list it under "Open with".
Function RegisterFiles
	WriteRegStr HKCU "${CLASSES}\Inglenook.Card" "" "$(CARD)"
	WriteRegStr HKCU "${CLASSES}\Inglenook.Card\DefaultIcon" "" "$INSTDIR\inglenook.exe"
	WriteRegStr HKCU "${CLASSES}\Inglenook.Card\shell\open\command" "" '"$INSTDIR\inglenook.exe" "%1"'
	WriteRegStr HKCU "${CLASSES}\.charx" "" "Inglenook.Card"
	WriteRegStr HKCU "${CLASSES}\.byaf" "" "Inglenook.Card"
	WriteRegNone HKCU "${CLASSES}\.png\OpenWithProgids" "Inglenook.Card"
	WriteRegStr HKCU "${CLASSES}\inglenook" "" "URL:Inglenook"
	WriteRegStr HKCU "${CLASSES}\inglenook" "URL Protocol" ""
	WriteRegStr HKCU "${CLASSES}\inglenook\shell\open\command" "" '"$INSTDIR\inglenook.exe" "%1"'
	System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
FunctionEnd

; Nothing is downloaded here; the page opens after a click only.
Function LookForWebView
	ReadRegStr $0 HKLM "SOFTWARE\WOW6432Node\${WEBVIEW_CLIENT}" "pv"
	${If} $0 == ""
		ReadRegStr $0 HKCU "Software\${WEBVIEW_CLIENT}" "pv"
	${EndIf}
	${If} $0 == ""
		MessageBox MB_YESNO|MB_ICONINFORMATION "$(NO_WEBVIEW)" /SD IDNO IDNO done
		ExecShell "open" "${WEBVIEW_PAGE}"
		done:
	${EndIf}
FunctionEnd

Section "un.$(PROGRAM)"
	SectionIn RO
	RMDir /r "$INSTDIR\versions"
	RMDir /r "$INSTDIR\models"
	Delete "$INSTDIR\inglenook.exe"
	Delete "$INSTDIR\nook.exe"
	Delete "$INSTDIR\current"
	Delete "$INSTDIR\previous"
	Delete "$INSTDIR\uninstall.exe"
	; Only if it is empty: the user may keep own files in it.
	RMDir "$INSTDIR"
	Delete "$SMPROGRAMS\Inglenook.lnk"
	DeleteRegKey HKCU "${UNINSTALL_KEY}"
	DeleteRegKey HKCU "Software\Inglenook"
	DeleteRegKey HKCU "${CLASSES}\Inglenook.Card"
	DeleteRegKey HKCU "${CLASSES}\inglenook"
	DeleteRegValue HKCU "${CLASSES}\.png\OpenWithProgids" "Inglenook.Card"
	Call un.ReleaseEndings
SectionEnd

Section /o "un.$(DELETE_DATA)" SECTION_DATA
	RMDir /r "${DATA}"
SectionEnd

; Another program may have taken an ending since.
Function un.ReleaseEndings
	ReadRegStr $0 HKCU "${CLASSES}\.charx" ""
	${If} $0 == "Inglenook.Card"
		DeleteRegKey HKCU "${CLASSES}\.charx"
	${EndIf}
	ReadRegStr $0 HKCU "${CLASSES}\.byaf" ""
	${If} $0 == "Inglenook.Card"
		DeleteRegKey HKCU "${CLASSES}\.byaf"
	${EndIf}
FunctionEnd

Function un.onInit
	${GetParameters} $0
	ClearErrors
	${GetOptions} $0 "/DELETEDATA" $1
	${IfNot} ${Errors}
		SectionSetFlags ${SECTION_DATA} 1
	${EndIf}
FunctionEnd
