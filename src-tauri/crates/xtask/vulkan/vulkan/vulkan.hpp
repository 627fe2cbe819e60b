// Debian 12 has Vulkan headers 1.3.239. ggml-vulkan also uses VK_EXT_layer_settings, which is in headers from 1.3.261
// on, in one function that only reports settings of validation layers. This header is found before the system's and
// adds the three names.
#pragma once
#include_next <vulkan/vulkan.hpp>

#include <cstdint>
#include <vector>

#if VK_HEADER_VERSION < 261
namespace vk {
enum class LayerSettingTypeEXT { eBool32 = 0, eInt32 = 1, eInt64 = 2, eUint32 = 3, eUint64 = 4, eFloat32 = 5, eFloat64 = 6, eString = 7 };

struct LayerSettingEXT {
    const char * pLayerName = nullptr;
    const char * pSettingName = nullptr;
    LayerSettingTypeEXT type = LayerSettingTypeEXT::eBool32;
    uint32_t valueCount = 0;
    const void * pValues = nullptr;
};

struct LayerSettingsCreateInfoEXT {
    // VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT
    uint32_t sType = 1000496000;
    const void * pNext = nullptr;
    uint32_t settingCount = 0;
    const LayerSettingEXT * pSettings = nullptr;

    explicit LayerSettingsCreateInfoEXT(const std::vector<LayerSettingEXT> & settings)
        : settingCount(static_cast<uint32_t>(settings.size())), pSettings(settings.data()) {}
};
}  // namespace vk
#endif
